import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { listening } from './listening.ts';

/** A part of a request, after which a prefix may end. */
export interface Block {
  cache_control?: object;
  type?: string;
  text?: string;
  /** Signature of a block of reasoning. */
  signature?: string;
}

interface MessagesRequest {
  tools?: Block[];
  system?: Block[];
  messages: { role: string; content: Block[] }[];
  thinking?: { block_binding?: { prefix_mismatch_behavior: string } };
}

export interface ToolCall {
  name: string;
  input: object;
}

/** Characters of a request that were read from the cache, and those that it added to the cache. */
export interface CacheUse {
  breakpoints: number;
  read: number;
  written: number;
  fresh: number;
}

/** The vendor looks for a cached prefix at a breakpoint, and this many blocks before it. */
const lookback = 20;
const maxBreakpoints = 4;

/** Caches like the vendor, by exact prefixes that end at breakpoints, and counts a token per character. */
export function createPromptCache() {
  const cached = new Set<string>();
  return (blocks: Block[]): CacheUse => {
    const prefixes = prefixesOf(blocks);
    const ends = prefixes.flatMap(({ isEnd }, at) => (isEnd ? [at] : []));
    const found = ends.flatMap((end) =>
      prefixes.slice(Math.max(0, end - lookback), end + 1).filter(({ hash }) => cached.has(hash)),
    );
    for (const end of ends) cached.add(prefixes[end]!.hash);
    const read = Math.max(0, ...found.map(({ length }) => length));
    const marked = Math.max(read, prefixes[ends.at(-1) ?? -1]?.length ?? 0);
    return { breakpoints: ends.length, read, written: marked - read, fresh: prefixes.at(-1)!.length - marked };
  };
}

/**
 * Starts a server that speaks Anthropic's `/messages` as a stream. It answers with calls of tools, or with a text
 * when there are none. With `thinks`, each answer begins with reasoning that is bound to what came before it, as that of
 * Claude 5.1 and later is.
 */
export async function startAnthropicServer(callsOf: (step: number) => ToolCall[], { thinks = false } = {}) {
  let steps = 0;
  const uses: CacheUse[] = [];
  /** How many blocks of reasoning each request has dropped. */
  const dropped: number[] = [];
  const use = createPromptCache();

  const server = createServer((request, response) => {
    void readJson(request).then((body) => {
      const asked = body as MessagesRequest;
      const used = use(blocksOf(asked));
      const moved = movedReasoning(asked);
      const drops = asked.thinking?.block_binding?.prefix_mismatch_behavior === 'drop_block';
      const isAllowed = String(request.headers['anthropic-beta']).includes('thinking-binding-controls-2026-08-01');
      const isBlank = blocksOf(asked).some(({ type, text }) => type === 'text' && text?.trim() === '');
      if (isBlank || asked.messages.at(-1)?.role === 'assistant') return void response.writeHead(400).end();
      if (drops !== isAllowed || (moved > 0 && !drops)) return void response.writeHead(400).end();
      dropped.push(moved);
      if (used.breakpoints > maxBreakpoints) return void response.writeHead(400).end();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const answer = asked.tools === undefined ? [] : callsOf((steps += 1));
      const signature = thinks ? prefixesOf(blocksOf(asked)).at(-1)!.hash : null;
      for (const event of eventsOf(`${uses.push(used)}`, used, { calls: answer, signature }))
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      response.end();
    });
  });
  const at = await listening(server);
  return {
    /** Value for `ANTHROPIC_BASE_URL`. */
    baseUrl: `http://127.0.0.1:${at.port}/v1`,
    uses,
    dropped,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}

/** Counts the blocks of reasoning that no longer follow the parts that they were generated after. */
function movedReasoning(asked: MessagesRequest): number {
  const blocks = blocksOf(asked);
  const prefixes = prefixesOf(blocks);
  return blocks.filter(({ type, signature }, at) => type === 'thinking' && signature !== prefixes[at - 1]?.hash).length;
}

/** Returns the parts of a request in the vendor's order: tools, system prompt, messages. */
function blocksOf({ tools = [], system = [], messages }: MessagesRequest): Block[] {
  return [
    ...tools,
    ...system,
    ...messages.flatMap(({ role, content }) => content.map((block) => ({ role, ...block }))),
  ];
}

function prefixesOf(blocks: Block[]) {
  const hash = createHash('sha256');
  let length = 0;
  return blocks.map(({ cache_control: mark, ...block }) => {
    const text = JSON.stringify(block);
    length += text.length;
    return { hash: hash.update(text).copy().digest('hex'), length, isEnd: mark !== undefined };
  });
}

function eventsOf(
  id: string,
  { read, written, fresh }: CacheUse,
  { calls, signature }: { calls: ToolCall[]; signature: string | null },
) {
  const usage = {
    input_tokens: fresh,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    output_tokens: 1,
  };
  const message = { id, type: 'message', role: 'assistant', model: 'claude', content: [], usage };
  const notes = { block: { type: 'text', text: '' }, delta: { type: 'text_delta', text: 'Notes.' } };
  const reasoning = {
    block: { type: 'thinking', thinking: '', signature: '' },
    delta: { type: 'signature_delta', signature },
  };
  const blocks = calls.map(({ name, input }, index) => ({
    block: { type: 'tool_use', id: `toolu_${id}_${index}`, name, input: {} },
    delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  }));
  const content = [...(signature === null ? [] : [reasoning]), ...(calls.length === 0 ? [notes] : blocks)];
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    ...content.flatMap(({ block, delta }, index) => [
      { type: 'content_block_start', index, content_block: block },
      { type: 'content_block_delta', index, delta },
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: calls.length === 0 ? 'end_turn' : 'tool_use', stop_sequence: null },
      usage: { output_tokens: 20 },
    },
    { type: 'message_stop' },
  ];
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}
