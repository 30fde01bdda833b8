/** One call of a tool in a scripted reply. */
export interface ScriptedToolCall {
  name: string;
  input?: unknown;
  /** Sent verbatim instead of `input`, for arguments that do not parse. */
  rawArguments?: string;
  id?: string;
}

/** One answer of the scripted model; plain JSON, so that it can be sent to a server in another process. */
export interface ScriptedReply {
  /** A string is streamed word by word, an array chunk by chunk. */
  text?: string | string[];
  reasoning?: string;
  toolCalls?: ScriptedToolCall[];
  /** Cached tokens are part of the input. */
  usage?: { inputTokens: number; outputTokens: number; cachedTokens?: number };
  finishReason?: string;
  /** Anything but 200 answers with an error body of the vendor's form. */
  status?: number;
  errorMessage?: string;
  retryAfter?: string | number;
  /** Waits until released: `true` before the first byte, a number after that many chunks (streams only). */
  stall?: boolean | number;
  /** Destroys the socket: `true` after half of the reply, a number after that many chunks (streams only). */
  cut?: boolean | number;
  delayMs?: number;
  chunkDelayMs?: number;
}

export interface ReplyIdentity {
  id: string;
  model: string;
}

/** The body of a reply that is not streamed. */
export function completionOf(reply: ScriptedReply, { id, model }: ReplyIdentity): object {
  const toolCalls = wireToolCalls(reply, id);
  return {
    id,
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [
      {
        index: 0,
        finish_reason: finishReasonOf(reply),
        message: {
          role: 'assistant',
          content: textOf(reply),
          ...(reply.reasoning === undefined ? {} : { reasoning_content: reply.reasoning }),
          ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
        },
      },
    ],
    usage: usageOf(reply),
  };
}

/** The chunks of a streamed reply, without the closing `[DONE]`. */
export function chunksOf(reply: ScriptedReply, { id, model }: ReplyIdentity): object[] {
  const chunk = (delta: object, finishReason: string | null = null) => ({
    id,
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  const chunks: object[] = [chunk({ role: 'assistant', content: '' })];
  for (const word of wordsOf(reply.reasoning)) chunks.push(chunk({ reasoning_content: word }));
  for (const word of wordsOf(reply.text)) chunks.push(chunk({ content: word }));
  for (const [index, call] of wireToolCalls(reply, id).entries()) {
    const half = Math.ceil(call.function.arguments.length / 2);
    const first = { ...call, index, function: { ...call.function, arguments: call.function.arguments.slice(0, half) } };
    chunks.push(chunk({ tool_calls: [first] }));
    chunks.push(chunk({ tool_calls: [{ index, function: { arguments: call.function.arguments.slice(half) } }] }));
  }
  chunks.push(chunk({}, finishReasonOf(reply)));
  chunks.push({ ...chunk({}), choices: [], usage: usageOf(reply) });
  return chunks;
}

/** The error body of the vendor's form. */
export function errorBodyOf(status: number, message: string): object {
  return {
    error: { message, type: status >= 500 ? 'server_error' : 'invalid_request_error', code: null, param: null },
  };
}

/** Returns why a vendor would refuse a request: no model, no messages, or a tool call without a result. */
export function complaintAbout(body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return 'The body is not a JSON object.';
  const { model, messages } = body as { model?: unknown; messages?: unknown };
  if (typeof model !== 'string' || model === '') return 'The body names no model.';
  if (!Array.isArray(messages) || messages.length === 0) return 'The body holds no messages.';
  let open = new Set<string>();
  for (const message of messages as { role: string; tool_calls?: { id: string }[]; tool_call_id?: string }[]) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id ?? ''))
        return `A tool result answers no open call: ${message.tool_call_id}.`;
      continue;
    }
    if (open.size > 0) return `Tool calls without a result: ${[...open].join(', ')}.`;
    open = new Set(message.tool_calls?.map((call) => call.id) ?? []);
  }
  return open.size > 0 ? `Tool calls without a result: ${[...open].join(', ')}.` : null;
}

function wireToolCalls(reply: ScriptedReply, replyId: string) {
  return (reply.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? `call_${replyId}_${index}`,
    type: 'function',
    function: { name: call.name, arguments: call.rawArguments ?? JSON.stringify(call.input ?? {}) },
  }));
}

function wordsOf(text: string | string[] | undefined): string[] {
  if (text === undefined) return [];
  return Array.isArray(text) ? text : (text.match(/\s*\S+|\s+$/gu) ?? []);
}

function textOf({ text }: ScriptedReply): string | null {
  if (text === undefined) return null;
  return Array.isArray(text) ? text.join('') : text;
}

function finishReasonOf(reply: ScriptedReply): string {
  return reply.finishReason ?? ((reply.toolCalls ?? []).length > 0 ? 'tool_calls' : 'stop');
}

function usageOf({ usage = { inputTokens: 100, outputTokens: 20 } }: ScriptedReply) {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens ?? 0 },
  };
}
