import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  ErrorCode,
  ListToolsResultSchema,
  McpError,
  ToolAnnotationsSchema,
  type CallToolResult,
} from '@modelcontextprotocol/sdk/types.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';
import type { McpServer, ServerValue } from '../../db/organizations/project-tools.ts';
import type { Egress } from '../../lib/network/egress.ts';
import { createCommandTransport } from './command-transport.ts';
import { createMcpFetch } from './mcp-fetch.ts';
import { McpProblem, McpRefusal } from './mcp-problem.ts';
import { startServer, type ServerJob, type ServerDeps, type ServerProcess } from './server-process.ts';

export interface McpNetwork {
  egress: Pick<Egress, 'request'>;
  /** `host` or `host:port`: may have private addresses, and may be reached without TLS. */
  privateHosts: readonly string[];
}

/** A connection to an MCP server. Errors: McpProblem, McpRefusal, the signal's reason. */
export interface McpSession extends AsyncDisposable {
  /** All tools of the server, by name. */
  tools: ReadonlyMap<string, ServerTool>;
  call(tool: string, input: Record<string, unknown>, timeoutMs: number): Promise<CallToolResult>;
  /** Ends a server that runs as a command, and keeps what it downloaded for its next starts. */
  endAndKeep(): Promise<void>;
}

/** How servers are reached: over the network, or as commands in the sandbox. */
export interface McpAccess extends ServerDeps {
  network: McpNetwork;
}

export interface SessionRequest {
  job: ServerJob;
  server: McpServer;
  /** Headers or environment variables of the server. */
  values: readonly ServerValue[];
  /** Time after which a server that runs as a command is stopped. */
  lifeMs: number;
  signal: AbortSignal;
}

interface McpConnection {
  transport: Transport;
  end(): Promise<void>;
  endAndKeep?: ServerProcess['endAndKeep'];
}

interface ConnectOptions extends SessionRequest {
  onProblem(problem: McpProblem): void;
}

const toolSchema = z.object({
  name: z.string(),
  description: z.string().optional().catch(undefined),
  /** Whatever the server has in the place of a schema. */
  inputSchema: z.unknown(),
  annotations: ToolAnnotationsSchema.optional().catch(undefined),
});
/** A tool as its server describes it. */
export type ServerTool = z.infer<typeof toolSchema>;
/** Tools are parsed one by one: a malformed one does not cost the others. */
const listSchema = ListToolsResultSchema.extend({ tools: z.array(z.unknown()) });

const listTimeoutMs = 10_000;
/** Includes the start of a command, which may download its program. */
const startTimeoutMs = 60_000;
const endTimeoutMs = 1_000;
const maxPages = 20;
const maxTools = 300;

/** Connects to a server and lists its tools. */
export async function openMcpSession(access: McpAccess, request: SessionRequest): Promise<McpSession> {
  const { server, signal } = request;
  const over = new AbortController();
  let problem: McpProblem | null = null;
  const connect = server.url === null ? connectByCommand : connectByHttp;
  const connection = await connect(access, {
    ...request,
    signal: AbortSignal.any([signal, over.signal]),
    onProblem(found) {
      problem ??= found;
      over.abort(found);
    },
  });
  // no capabilities: the server may ask for nothing
  const client = new Client({ name: 'docket', version: '1' }, { capabilities: {} });

  async function within<Result>(
    ask: (options: { signal: AbortSignal; timeout: number }) => Promise<Result>,
    timeoutMs: number,
  ) {
    try {
      return await ask({ signal: AbortSignal.any([signal, over.signal]), timeout: timeoutMs });
    } catch (error) {
      signal.throwIfAborted();
      if (problem !== null) throw problem;
      if (error instanceof McpError && error.code === ErrorCode.RequestTimeout)
        throw new McpProblem(`did not answer within ${Math.ceil(timeoutMs / 1_000)} seconds`, { cause: error });
      if (error instanceof McpError) throw new McpRefusal(error.message, error.code);
      if (error instanceof McpProblem) throw error;
      throw new McpProblem('did not answer as the protocol requires', { cause: error });
    }
  }

  async function end(): Promise<void> {
    await connection.end();
    over.abort();
    await client.close().catch(() => undefined);
  }

  /** Without the client's own method, which compiles schemas of the server. */
  async function listTools(): Promise<Map<string, ServerTool>> {
    const tools = new Map<string, ServerTool>();
    let cursor: string | undefined;
    for (let page = 1; ; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const listed = await within(
        (options) => client.request({ method: 'tools/list', params }, listSchema, options),
        listTimeoutMs,
      );
      for (const given of listed.tools) {
        // what has no name can be neither offered nor called
        const { data: tool } = toolSchema.safeParse(given);
        if (tool !== undefined) tools.set(tool.name, tool);
      }
      cursor = listed.nextCursor;
      if (cursor === undefined) return tools;
      if (page === maxPages || tools.size > maxTools) throw new McpProblem('lists too many tools');
    }
  }

  try {
    await within(
      (options) => client.connect(connection.transport, options),
      server.url === null ? startTimeoutMs : listTimeoutMs,
    );
    const tools = await listTools();
    return {
      tools,
      call: (name, input, timeoutMs) =>
        within(
          (options) =>
            client.request({ method: 'tools/call', params: { name, arguments: input } }, CallToolResultSchema, options),
          timeoutMs,
        ),
      async endAndKeep() {
        await connection.endAndKeep?.(signal);
      },
      [Symbol.asyncDispose]: end,
    };
  } catch (error) {
    await end();
    throw error;
  }
}

async function connectByHttp(
  { network: { egress, privateHosts } }: McpAccess,
  { server: { url }, values, signal, onProblem }: ConnectOptions,
): Promise<McpConnection> {
  const fetch = createMcpFetch({ egress, privateHosts, headers: values, signal, onProblem });
  const transport = new StreamableHTTPClientTransport(new URL(url ?? ''), {
    fetch,
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
  });
  return {
    transport,
    async end() {
      if (signal.aborted || transport.sessionId === undefined) return;
      const ended = transport.terminateSession().catch(() => undefined);
      await Promise.race([ended, sleep(endTimeoutMs, null, { ref: false })]);
    },
  };
}

async function connectByCommand(
  access: McpAccess,
  { server: { command }, onProblem, ...options }: ConnectOptions,
): Promise<McpConnection> {
  const started = await startServer(access, { ...options, command: command ?? [] });
  return {
    transport: createCommandTransport(started, onProblem),
    async end() {
      await started[Symbol.asyncDispose]();
    },
    endAndKeep: started.endAndKeep,
  };
}
