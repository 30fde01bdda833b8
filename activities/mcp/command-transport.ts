import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { createJsonScan } from '../../lib/json-scan.ts';
import { createSessionLimit, jsonLimits, maxBytes } from './mcp-fetch.ts';
import { McpProblem } from './mcp-problem.ts';
import type { ServerProcess } from './server-process.ts';

/** Messages of one session. A server can make the client answer it. */
const maxMessages = 1_000;
const lineFeed = 0x0a;

/**
 * Creates the transport of a server that runs as a command: one message per line of its standard output, each bounded
 * like a response over HTTP. The first problem is reported, and nothing is read after it.
 */
export function createCommandTransport(
  { stdin, stdout, ended }: Pick<ServerProcess, 'stdin' | 'stdout' | 'ended'>,
  onProblem: (problem: McpProblem) => void,
): Transport {
  let chunks: Buffer[] = [];
  let size = 0;
  let messages = 0;
  const count = createSessionLimit();
  let scan = createJsonScan(jsonLimits);

  const transport: Transport = {
    async start() {
      stdout.on('data', read);
      void ended.then(fail);
    },
    async send(message) {
      stdin.write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      stdout.destroy();
      transport.onclose?.();
    },
  };

  function fail(problem: McpProblem): void {
    stdout.destroy();
    onProblem(problem);
  }

  function read(chunk: Buffer): void {
    try {
      for (let at = 0; at < chunk.length;) {
        const end = chunk.indexOf(lineFeed, at);
        add(chunk.subarray(at, end === -1 ? chunk.length : end));
        if (end === -1) return;
        at = end + 1;
        const message = takeLine();
        if (message !== null) transport.onmessage?.(message);
      }
    } catch (error) {
      fail(error instanceof McpProblem ? error : new McpProblem('did not answer as the protocol requires'));
    }
  }

  function add(chunk: Buffer): void {
    size += chunk.length;
    count(chunk.length);
    if (size > maxBytes) throw new McpProblem('answered with more than 4 MB');
    const problem = scan(chunk);
    if (problem !== null) throw new McpProblem(`answered with JSON that ${problem}`);
    chunks.push(chunk);
  }

  function takeLine(): JSONRPCMessage | null {
    const line = Buffer.concat(chunks).toString('utf8').trim();
    chunks = [];
    size = 0;
    scan = createJsonScan(jsonLimits);
    messages += 1;
    if (messages > maxMessages) throw new McpProblem('wrote too many messages');
    return line === '' ? null : messageIn(line);
  }

  return transport;
}

function messageIn(line: string): JSONRPCMessage {
  const parsed = JSONRPCMessageSchema.safeParse(jsonIn(line));
  if (parsed.success) return parsed.data;
  throw new McpProblem('wrote text to its standard output that is not an MCP message');
}

function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
