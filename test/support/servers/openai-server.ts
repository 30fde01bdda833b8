import { createServer, type IncomingMessage } from 'node:http';
import type { CacheUse, ToolCall } from './anthropic-server.ts';
import { listening } from './listening.ts';

interface ResponsesRequest {
  tools?: object[];
  input: { type?: string; role?: string }[];
  include?: string[];
  prompt_cache_key?: string;
}

/** The vendor caches prefixes from 1,024 tokens on, in units of 128. */
const shortest = 1_024;
const unit = 128;

/**
 * Starts a server that speaks OpenAI's `/responses` as a stream. It answers with calls of tools, or with a text when there
 * are none, and stores nothing, as for an organization without data retention. It caches like the vendor, by the longest
 * prefix of an earlier request, and counts a token per character.
 */
export async function startOpenAiServer(callsOf: (step: number) => ToolCall[]) {
  let steps = 0;
  /** Earlier requests by cache key. A request without a key may reach a machine with an empty cache. */
  const cached = new Map<string, string[]>();
  const uses: CacheUse[] = [];
  const requests: ResponsesRequest[] = [];

  const server = createServer((request, response) => {
    void readJson(request).then((body) => {
      const { tools = [], input, include = [], prompt_cache_key: key } = body as ResponsesRequest;
      requests.push(body as ResponsesRequest);
      const isAlone = ({ type }: { type?: string }, at: number) =>
        type === 'reasoning' && input[at + 1]?.type !== 'function_call' && input[at + 1]?.role !== 'assistant';
      if (input.some(isAlone)) return void response.writeHead(400).end();
      if (input.some(({ type }) => type === 'item_reference')) return void response.writeHead(404).end();
      const text = JSON.stringify([tools, input]);
      const before = key === undefined ? [] : (cached.get(key) ?? []);
      const longest = Math.max(0, ...before.map((earlier) => sharedLength(earlier, text)));
      const read = longest < shortest ? 0 : Math.floor(longest / unit) * unit;
      const use = { breakpoints: tools.length === 0 ? 0 : 1, read, written: 0, fresh: text.length - read };
      if (key !== undefined) cached.set(key, [...before, text]);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const calls = tools.length === 0 ? [] : callsOf((steps += 1));
      const sealed = include.includes('reasoning.encrypted_content') ? 'sealed' : null;
      for (const event of eventsOf(`${uses.push(use)}`, use, { calls, sealed }))
        response.write(`data: ${JSON.stringify(event)}\n\n`);
      response.end();
    });
  });
  const at = await listening(server);
  return {
    /** Value for `OPENAI_BASE_URL`. */
    baseUrl: `http://127.0.0.1:${at.port}/v1`,
    uses,
    requests,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}

function sharedLength(earlier: string, text: string): number {
  let at = 0;
  while (at < earlier.length && earlier.charCodeAt(at) === text.charCodeAt(at)) at += 1;
  return at;
}

function eventsOf(
  id: string,
  { read, fresh }: CacheUse,
  { calls, sealed }: { calls: ToolCall[]; sealed: string | null },
) {
  const reasoning = { type: 'reasoning', id: `rs_${id}`, summary: [], encrypted_content: sealed };
  const thoughts = [
    { type: 'response.output_item.added', output_index: 0, item: reasoning },
    { type: 'response.output_item.done', output_index: 0, item: reasoning },
  ];
  const message = { type: 'message', id: `msg_${id}` };
  const notes = [
    { type: 'response.output_item.added', output_index: 0, item: message },
    { type: 'response.output_text.delta', item_id: message.id, delta: 'Notes.' },
    { type: 'response.output_item.done', output_index: 0, item: message },
  ];
  const items = calls.flatMap(({ name, input }, index) => {
    const item = { type: 'function_call', id: `fc_${id}_${index}`, call_id: `call_${id}_${index}`, name };
    const text = JSON.stringify(input);
    return [
      { type: 'response.output_item.added', output_index: index, item: { ...item, arguments: '' } },
      { type: 'response.function_call_arguments.delta', item_id: item.id, output_index: index, delta: text },
      {
        type: 'response.output_item.done',
        output_index: index,
        item: { ...item, arguments: text, status: 'completed' },
      },
    ];
  });
  const usage = {
    input_tokens: read + fresh,
    input_tokens_details: { cached_tokens: read },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 },
  };
  return [
    { type: 'response.created', response: { id: `resp_${id}`, created_at: 1, model: 'gpt-5' } },
    ...thoughts,
    ...(calls.length === 0 ? notes : items),
    { type: 'response.completed', response: { incomplete_details: null, usage } },
  ];
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}
