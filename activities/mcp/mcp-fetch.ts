import type { IncomingMessage } from 'node:http';
import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { createJsonScan } from '../../lib/json-scan.ts';
import { parseWebhookAddress } from '../../lib/inputs/webhook-address.ts';
import type { Egress } from '../../lib/network/egress.ts';
import { PrivateAddressError } from '../../lib/network/public-lookup.ts';
import { McpProblem } from './mcp-problem.ts';

export interface McpFetchOptions {
  egress: Pick<Egress, 'request'>;
  /** `host` or `host:port`: may have private addresses, and may be reached without TLS. */
  privateHosts: readonly string[];
  headers: readonly { name: string; value: string }[];
  signal: AbortSignal;
  /** Receives the problem of a response whose body is being read. */
  onProblem(problem: McpProblem): void;
}

/** Limits of one response. */
export const maxBytes = 4 * 1024 * 1024;
export const jsonLimits = { maxDepth: 64, maxValues: 50_000 };
/** All responses of one session. Parsing them takes time that the jobs of others need. */
const maxSessionBytes = 4 * maxBytes;

/** Returns a function that counts the bytes that a server has sent in a session. It throws McpProblem above the limit. */
export function createSessionLimit(): (bytes: number) => void {
  let received = 0;
  return (bytes) => {
    received += bytes;
    if (received > maxSessionBytes) throw new McpProblem('answered with more than 16 MB in all');
  };
}

/** Largest number of requests per session; a server can provoke some of them with requests of its own. */
const maxRequests = 300;

/** Creates the fetch of an MCP client: by checked addresses only, without redirects, and with bounded responses. */
export function createMcpFetch({ egress, privateHosts, headers, signal, onProblem }: McpFetchOptions): FetchLike {
  let requests = 0;
  const count = createSessionLimit();

  async function* bounded(response: IncomingMessage): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const scan = createJsonScan(jsonLimits);
    let size = 0;
    try {
      for await (const chunk of response) {
        const bytes = Buffer.from(chunk);
        size += bytes.length;
        count(bytes.length);
        if (size > maxBytes) throw new McpProblem('answered with more than 4 MB');
        const problem = scan(bytes);
        if (problem !== null) throw new McpProblem(`answered with JSON that ${problem}`);
        yield bytes;
      }
    } catch (error) {
      onProblem(error instanceof McpProblem ? error : new McpProblem('closed the connection', { cause: error }));
      throw error;
    }
  }

  return async (input, { method = 'GET', headers: own, body, signal: ofCall } = {}) => {
    // the stream of the server's own messages, which are not used
    if (method === 'GET') return new Response(null, { status: 405 });
    requests += 1;
    if (requests > maxRequests) throw new McpProblem('asked for too many answers');
    const address = parseWebhookAddress(String(input), privateHosts, 'DOCKET_PRIVATE_HOSTS of the worker');
    if (!address.ok) throw new McpProblem(`is not reached. ${address.problem.replace(/\.$/, '')}`);
    const sent = new Headers(own);
    for (const { name, value } of headers) sent.set(name, value);
    const signals = [signal, ...(ofCall ? [ofCall] : [])];
    const response = await answered(
      egress.request(new URL(address.url), {
        method,
        headers: sent,
        body: typeof body === 'string' ? body : undefined,
        signal: AbortSignal.any(signals),
      }),
    );
    const { statusCode: status = 502 } = response;
    const refusal = refusalOf(status);
    if (refusal !== null) {
      response.destroy();
      throw new McpProblem(refusal);
    }
    const known = ['content-type', 'mcp-session-id'].flatMap((name): [string, string][] => {
      const value = response.headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    });
    const hasBody = status !== 202 && status !== 204;
    if (!hasBody) response.destroy();
    return new Response(hasBody ? streamOf(bounded(response)) : null, { status, headers: known });
  };
}

function streamOf(chunks: AsyncGenerator<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });
}

async function answered(response: Promise<IncomingMessage>): Promise<IncomingMessage> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof PrivateAddressError) {
      throw new McpProblem("has a private address, which the worker's DOCKET_PRIVATE_HOSTS does not list");
    }
    throw new McpProblem('did not respond', { cause: error });
  }
}

function refusalOf(status: number): string | null {
  if (status >= 300 && status < 400) return 'redirects, and redirects are not followed';
  if (status === 401 || status === 403) {
    return `asks for authorization (${status}): set its headers in the project; signing in with OAuth is not supported`;
  }
  return status >= 400 ? `answered with status ${status}` : null;
}
