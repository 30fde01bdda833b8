import type { IncomingMessage } from 'node:http';
import { commonHosts, isFetchHost } from '../../../lib/inputs/fetch-hosts.ts';
import { ThreadQueueError } from '../../../lib/threads/fair-queue.ts';
import { createThreadQueue, type ThreadQueue } from '../../../lib/threads/thread-queue.ts';
import { createEgress, type Egress } from '../../../lib/network/egress.ts';
import { PrivateAddressError, type Resolve } from '../../../lib/network/public-lookup.ts';
import { redirectOf } from '../../network/redirect.ts';
import { acceptedEncodings, BodyError, readBody } from '../../network/response-body.ts';
import { ToolProblem } from '../tool-problem.ts';
import { problemWithType, type PageBody, type PageText } from './page-body.ts';

export interface PageNetwork {
  /** Hosts that the operator allows, as in `parseFetchHost`. */
  hosts: readonly string[];
  egress: Egress;
  /** Reads the pages of all jobs of this worker. */
  readers: ThreadQueue;
}

interface FetchedPage {
  /** The address after redirects. */
  url: string;
  text: string;
}

/** Fetches pages for the calls of one batch. Errors: ToolProblem, the signal's reason. */
export type PageFetcher = (url: string) => Promise<FetchedPage>;

/** Time for one page with its redirects, and for all pages of a batch. */
const pageMs = 20_000;
const batchMs = 3 * 60_000;
const maxBytes = 2_000_000;
const maxRedirects = 5;
const maxUrlLength = 2_048;
const readerLimits = { atOnce: 2, waiting: 100, deadlineMs: 15_000, heapMb: 256 };
const headers = {
  accept: 'text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.1',
  'accept-encoding': acceptedEncodings,
};

/** Creates the network of fetched pages. Only a host that the operator names exactly may have a private address. */
export function createPageNetwork({
  hosts,
  privateHosts,
  resolve,
}: {
  hosts: readonly string[];
  /** `host` or `host:port`. */
  privateHosts: readonly string[];
  resolve?: Resolve;
}): PageNetwork {
  const named = privateHosts.filter((host) => hosts.includes(host));
  return { hosts, egress: createEgress({ privateHosts: named, resolve }), readers: createThreadQueue(readerLimits) };
}

/** Creates the fetcher of a batch. Addresses are checked at every redirect, and nothing but the address is sent. */
export function createPageFetcher(
  { hosts: operators, egress, readers }: PageNetwork,
  {
    organizationId,
    hosts: wanted,
    maskSecrets,
    signal,
  }: {
    organizationId: string;
    /** Hosts that the project allows. */
    hosts: readonly string[];
    maskSecrets(text: string): string;
    signal: AbortSignal;
  },
): PageFetcher {
  const hosts = commonHosts(wanted, operators);
  const batch = AbortSignal.timeout(batchMs);

  /** Checks an address before each request to it. */
  function checked(text: string, base?: URL): URL {
    const url = text.length > maxUrlLength ? null : URL.parse(text, base);
    const subject = base === undefined ? 'The address' : `${base.host} redirects to an address that`;
    if (url === null || !/^https?:$/.test(url.protocol))
      throw new ToolProblem(`${subject} is no http or https address.`);
    if (url.username !== '' || url.password !== '') throw new ToolProblem(`${subject} has a user name or password.`);
    url.hash = '';
    if (!isFetchHost(hosts, url)) throw new ToolProblem(refusalOf(url.host, hosts));
    if (maskSecrets(url.href) !== url.href) throw new ToolProblem(`${subject} has a secret in it.`);
    return url;
  }

  async function request(first: URL, until: AbortSignal): Promise<{ url: URL; response: IncomingMessage }> {
    let url = first;
    for (let hop = 0; hop <= maxRedirects; hop += 1) {
      const response = await egress.request(url, { headers, signal: until });
      const { statusCode: status = 502 } = response;
      if (status >= 200 && status < 300) return { url, response };
      response.destroy();
      const target = redirectOf(status, response.headers);
      if (target === null) throw new ToolProblem(`${url.host} answered with status ${status}.`);
      url = checked(target, url);
    }
    throw new ToolProblem(`${first.host} redirects more than ${maxRedirects} times.`);
  }

  return async (text) => {
    const first = checked(text);
    const until = AbortSignal.any([signal, batch, AbortSignal.timeout(pageMs)]);
    try {
      const { url, response } = await request(first, until);
      const type = response.headers['content-type'] ?? null;
      const problem = problemWithType(type);
      if (problem !== null) {
        response.destroy();
        throw new ToolProblem(`${url.href} ${problem}.`);
      }
      const bytes = await bodyOf(response, url);
      const data = { url: url.href, type, bytes };
      const script = new URL('./page-thread.ts', import.meta.url);
      const page = await readers.run<PageBody, PageText>({ organizationId, script, data });
      if ('problem' in page) throw new ToolProblem(`${url.href} ${page.problem}.`);
      return { url: url.href, text: page.text };
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof ToolProblem ? error : problemOf(error, { host: first.host, batch, until });
    }
  };
}

function problemOf(error: unknown, { host, batch, until }: { host: string; batch: AbortSignal; until: AbortSignal }) {
  if (error instanceof PrivateAddressError)
    return new ToolProblem(`${host} leads to a private address.`, { cause: error });
  if (error instanceof ThreadQueueError)
    return new ToolProblem(`The page of ${host} takes too long to read.`, { cause: error });
  if (batch.aborted) return new ToolProblem('The time for pages of this answer is over. Fetch less at once.');
  if (until.aborted) return new ToolProblem(`${host} did not send the page within ${pageMs / 1_000} seconds.`);
  return new ToolProblem(`${host} could not be reached, or what it sent could not be read.`, { cause: error });
}

const maxListed = 20;

/** Returns why a host may not be fetched from. */
function refusalOf(host: string, hosts: readonly string[]): string {
  if (hosts.length === 0) return 'No web page can be fetched: the project allows no hosts.';
  const more = hosts.length > maxListed ? ' and others' : '';
  return `${host} is not among the hosts that pages may be fetched from: ${hosts.slice(0, maxListed).join(', ')}${more}.`;
}

async function bodyOf(response: IncomingMessage, url: URL): Promise<Uint8Array> {
  try {
    return await readBody(response, maxBytes);
  } catch (error) {
    throw error instanceof BodyError ? new ToolProblem(`${url.href} ${error.message}.`) : error;
  }
}
