import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { ClientRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { withInput } from '../http/error-handler.ts';
import { createMcpServers, type McpServerDeps } from './create-server.ts';
import type { ToolRequest } from './tools.ts';

interface McpMessage {
  method: string;
}

interface McpRequest extends Omit<ToolRequest, 'onLength'> {
  protocolVersion: string | undefined;
  /** Whether the response is a stream of events. */
  isStream: boolean;
  /** Sends the response, which ends with this call. */
  send(response: Response): Promise<void>;
}

/** Answers one message. Throws ZodError for a malformed one. */
export type AnswerMcp = (message: McpMessage, request: McpRequest) => Promise<void>;

/** Creates the function that answers messages. Each gets its own server. */
export function createMcpAnswers(deps: McpServerDeps): AnswerMcp {
  const createServer = createMcpServers(deps);

  return async (message, { protocolVersion, isStream, send, ...request }) => {
    // the SDK would answer with its schema's issues
    ClientRequestSchema.options.find(({ shape }) => shape.method.value === message.method)?.parse(message, withInput);
    const server = createServer(request);
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !isStream, keepAliveMs: 0 });
    await server.connect(transport);
    try {
      await send(await transport.handleRequest(requestOf(protocolVersion), { parsedBody: message }));
    } finally {
      await server.close();
    }
  };
}

/** Returns the request for the transport, which checks that a client accepts both types although one is enough. */
function requestOf(protocolVersion: string | undefined): Request {
  return new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(protocolVersion !== undefined && { 'MCP-Protocol-Version': protocolVersion }),
    },
  });
}
