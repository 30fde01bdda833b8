import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
  type CallToolResult,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js';
import { listening } from './listening.ts';

export interface TestTool extends Partial<Tool> {
  name: string;
  call(input: Record<string, unknown>): CallToolResult | Promise<CallToolResult>;
}

export interface TestMcpServer extends AsyncDisposable {
  url: string;
  /** `host:port`. */
  host: string;
  /** The tools, which a test may change. */
  tools: TestTool[];
  /** Calls of tools, in order. */
  calls: { name: string; input: Record<string, unknown> }[];
  /** Headers of the last request. */
  headers(): IncomingMessage['headers'];
  /** Answers all requests from now on instead of the server; null for the server. */
  replace(answer: ((request: IncomingMessage, response: ServerResponse) => void) | null): void;
}

export const textResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] });

/** Serves tools over streamable HTTP with the official SDK. */
export async function startMcpServer(tools: TestTool[]): Promise<TestMcpServer> {
  const calls: TestMcpServer['calls'] = [];
  // copies, because a test changes them and files share a process
  const state = { tools: tools.map((tool) => ({ ...tool })), headers: {} as IncomingMessage['headers'] };
  let replacement: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const server = new Server({ name: 'test', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, () => ({
      tools: state.tools.map(({ call: _call, inputSchema = { type: 'object' }, ...tool }) => ({
        ...tool,
        inputSchema,
      })),
    }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params: { name, arguments: input = {} } }) => {
      calls.push({ name, input });
      const tool = state.tools.find((one) => one.name === name);
      return tool === undefined ? { ...textResult('unknown'), isError: true } : tool.call(input);
    });
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await server.connect(transport);
    response.on('close', () => void server.close());
    await transport.handleRequest(request, response);
  }

  const http = createServer((request, response) => {
    state.headers = request.headers;
    if (replacement !== null) return replacement(request, response);
    serve(request, response).catch(() => response.destroy());
  });
  const at = await listening(http);
  const host = `127.0.0.1:${at.port}`;
  return {
    url: `http://${host}/mcp`,
    host,
    tools: state.tools,
    calls,
    headers: () => state.headers,
    replace: (answer) => void (replacement = answer),
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}
