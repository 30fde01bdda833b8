import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from '../inputs/public-address.ts';
import { isAllowedHost } from '../inputs/webhook-address.ts';
import { createJsonScan } from '../json-scan.ts';
import { answerTo } from './answer-to.ts';
import { createLookup, createPublicLookup, PrivateAddressError, type Resolve } from './public-lookup.ts';

export interface EgressOptions {
  /** `host` or `host:port`: may have private addresses; every other host may not. */
  privateHosts?: readonly string[];
  resolve?: Resolve;
}

/** A response exceeds the limit of bytes or values. */
export class AnswerLimitError extends Error {
  override name = 'AnswerLimitError';
}

const answerTimeoutMs = 30_000;
const maxAnswerLength = 8 * 1024 * 1024;
const answerLimits = { maxDepth: 64, maxValues: 50_000 };
const withoutBody = new Set([204, 205, 304]);

export type Egress = ReturnType<typeof createEgress>;

/** Connects to repositories and forges. A private address is refused unless its host is in `privateHosts`. */
export function createEgress({ privateHosts = [], resolve }: EgressOptions = {}) {
  const publicLookup = createPublicLookup(resolve);
  const anyLookup = createLookup(resolve);

  function lookupOf(url: URL): LookupFunction {
    if (isAllowedHost(url, privateHosts)) return anyLookup;
    const literal = literalOf(url);
    // connecting to an IP address bypasses the lookup
    if (literal !== null && !isPublicAddress(literal)) throw new PrivateAddressError('The host has a private address.');
    return publicLookup;
  }

  /**
   * Connects to the checked addresses only, over a separate connection, and returns the response as a stream. Follows
   * no redirects.
   */
  async function request(
    address: URL,
    { method = 'GET', headers, body, signal }: RequestInit & { signal: AbortSignal },
  ): Promise<IncomingMessage> {
    const start = address.protocol === 'https:' ? requestHttps : requestHttp;
    const settings = {
      method,
      headers: { 'user-agent': 'docket', ...Object.fromEntries(new Headers(headers)) },
      agent: false, // a separate connection, so that the checked address is the one it uses
      lookup: lookupOf(address),
      signal,
    };
    return await answerTo(start(address, settings).end(typeof body === 'string' ? body : undefined));
  }

  return {
    /**
     * Returns the addresses at which a URL's host may be reached; none when the host is itself an address. Throws
     * PrivateAddressError, or the resolver's error.
     */
    async addressesOf(url: URL, signal: AbortSignal): Promise<string[]> {
      const lookup = lookupOf(url);
      return literalOf(url) === null ? await addressesBy(lookup, url.hostname, signal) : [];
    },
    /**
     * Fetches JSON from the checked addresses only, over its own connection, and follows no redirects. Fails after 30
     * seconds, and with AnswerLimitError after 8 MB or 50,000 values.
     */
    async fetch(url: string | URL, { signal, ...init }: RequestInit = {}): Promise<Response> {
      const until = AbortSignal.any([AbortSignal.timeout(answerTimeoutMs), ...(signal ? [signal] : [])]);
      return await responseOf(await request(new URL(url), { ...init, signal: until }));
    },
    request,
  };
}

/** Reads a response to its end, so that nothing keeps its connection open. */
async function responseOf(response: IncomingMessage): Promise<Response> {
  const { statusCode = 502, rawHeaders } = response;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  const chunks: Uint8Array[] = [];
  const scan = createJsonScan(answerLimits);
  let size = 0;
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    if (size > maxAnswerLength) throw new AnswerLimitError('The answer is too long.');
    const problem = scan(bytes);
    if (problem !== null) throw new AnswerLimitError(`The answer ${problem}.`);
  }
  return new Response(withoutBody.has(statusCode) ? null : Buffer.concat(chunks), { status: statusCode, headers });
}

function addressesBy(lookup: LookupFunction, hostname: string, signal: AbortSignal): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    lookup(hostname, { all: true }, (error, found) => {
      signal.removeEventListener('abort', stop);
      if (error !== null) reject(error);
      else resolve(typeof found === 'string' ? [found] : found.map(({ address }) => address));
    });
  });
}

/** Returns the IP address in a URL; null when the host is a name. */
function literalOf({ hostname }: URL): string | null {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(literal) === 0 ? null : literal;
}
