import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from '../../workflows/contract/public-address.ts';
import { isAllowedHost } from '../../workflows/contract/webhook-address.ts';
import { createLookup, createPublicLookup, PrivateAddressError, type Resolve } from './public-lookup.ts';

export interface EgressOptions {
  /** `host` or `host:port`: may have private addresses; every other host may not. */
  privateHosts?: readonly string[];
  resolve?: Resolve;
}

/** The way out to repositories and forges. Whatever a name leads to, nothing private is reached unless it is allowed. */
export interface Egress {
  /**
   * The addresses of a URL's host that a connection may be made to, none where the host is an address itself. Throws
   * PrivateAddressError, or the resolver's error.
   */
  addressesOf(url: URL, signal: AbortSignal): Promise<string[]>;
  /** `fetch` to the very addresses that were checked: follows no redirect, keeps no connection, reads at most 8 MB. */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
}

const longestAnswer = 8 * 1024 * 1024;
const withoutBody = new Set([204, 205, 304]);

export function createEgress({ privateHosts = [], resolve }: EgressOptions = {}): Egress {
  const publicLookup = createPublicLookup(resolve);
  const anyLookup = createLookup(resolve);

  function lookupOf(url: URL): LookupFunction {
    if (isAllowedHost(url, privateHosts)) return anyLookup;
    const literal = literalOf(url);
    // an address is connected to without asking the lookup
    if (literal !== null && !isPublicAddress(literal))
      throw new PrivateAddressError('The address of the host is a private one.');
    return publicLookup;
  }

  return {
    async addressesOf(url, signal) {
      const lookup = lookupOf(url);
      return literalOf(url) === null ? await addressesBy(lookup, url.hostname, signal) : [];
    },
    async fetch(url, { method = 'GET', headers, body, signal } = {}) {
      const address = new URL(url);
      const start = address.protocol === 'https:' ? requestHttps : requestHttp;
      const settings = {
        method,
        headers: { 'user-agent': 'docket', ...Object.fromEntries(new Headers(headers)) },
        agent: false, // a connection of its own, so that the check of its address is this one's
        lookup: lookupOf(address),
        ...(signal === null || signal === undefined ? {} : { signal }),
      };
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        start(address, settings, resolve)
          .on('error', reject)
          .end(typeof body === 'string' ? body : undefined);
      });
      return await responseOf(response);
    },
  };
}

/** Reads an answer to its end, so that nothing holds its connection. */
async function responseOf(response: IncomingMessage): Promise<Response> {
  const { statusCode = 502, rawHeaders } = response;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response) {
    pieces.push(Buffer.from(piece));
    size += piece.length;
    if (size > longestAnswer) throw new Error('The answer is too long.');
  }
  return new Response(withoutBody.has(statusCode) ? null : Buffer.concat(pieces), { status: statusCode, headers });
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

/** The address that stands for the host of a URL; null where it is a name. */
function literalOf({ hostname }: URL): string | null {
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(literal) === 0 ? null : literal;
}
