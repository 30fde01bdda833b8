import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { createPromptCache, type Block, type CacheUse, type ToolCall } from './anthropic-server.ts';
import { chunksOf } from './scripted-model-wire.ts';
import { listening } from './listening.ts';

interface CompletionRequest {
  model: string;
  tools?: Block[];
  messages: { role: string; content: string | Block[] | null }[];
}

const maxBreakpoints = 4;

/**
 * Starts a gateway to Anthropic's models: it speaks OpenAI's `/chat/completions` as a stream, and takes breakpoints in parts of
 * messages. It answers with calls of tools, or with a text when there are none.
 */
export async function startGatewayServer(callsOf: (step: number) => ToolCall[]) {
  let steps = 0;
  const uses: CacheUse[] = [];
  const use = createPromptCache();
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const { model, tools, messages } = body as CompletionRequest;
      const used = use([...(tools ?? []), ...messages.flatMap(blocksOf)]);
      if (used.breakpoints > maxBreakpoints) return void response.writeHead(400).end();
      const calls = tools === undefined ? [] : callsOf((steps += 1));
      const reply = calls.length === 0 ? { text: 'Notes.' } : { toolCalls: calls };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const chunk of chunksOf(reply, { id: `chat_${uses.push(used)}`, model }))
        response.write(`data: ${JSON.stringify('usage' in chunk ? { ...chunk, usage: usageOf(used) } : chunk)}\n\n`);
      response.end('data: [DONE]\n\n');
    });
  });
  const at = await listening(server);
  return {
    /** Value for `OPENAI_COMPATIBLE_BASE_URL`. */
    baseUrl: `http://127.0.0.1:${at.port}/v1`,
    uses,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}

/** Returns the parts of a message. A message without a list of parts is a single part without a breakpoint. */
function blocksOf({ content, ...message }: CompletionRequest['messages'][number]): Block[] {
  return Array.isArray(content)
    ? content.map((part) => ({ ...message, ...part }))
    : [{ ...message, text: content } as Block];
}

function usageOf({ read, written, fresh }: CacheUse) {
  return {
    prompt_tokens: read + written + fresh,
    completion_tokens: 20,
    prompt_tokens_details: { cached_tokens: read, cache_write_tokens: written },
  };
}
