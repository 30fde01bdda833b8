import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Egress } from '../../../lib/network/egress.ts';
import { PrivateAddressError } from '../../../lib/network/public-lookup.ts';
import { readRetryAfter } from '../../../lib/network/retry-after.ts';
import { agentName } from '../../../search/read/formats/robots-rules.ts';
import { redirectOf } from '../../network/redirect.ts';
import { acceptedEncodings, BodyError, readBody } from '../../network/response-body.ts';
import { PageError, RedirectError } from '../content/page-error.ts';
import { CrawlStop } from './crawl-stop.ts';

interface WebsiteAnswer {
  /** The address after redirects. */
  url: string;
  status: number;
  headers: IncomingHttpHeaders;
  /** The `X-Robots-Tag` headers. */
  robotsTags: string[];
  /** Empty unless the status is 200. */
  bytes: Uint8Array;
}

export interface WebsiteClientOptions {
  egress: Pick<Egress, 'request'>;
  /** Time between requests. */
  delayMs: number;
  signal: AbortSignal;
  wait?: Wait;
}

/** Resolves after this time, or rejects with the signal's reason. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<unknown>;

interface WebsiteRequest {
  url: string;
  headers?: Record<string, string>;
  maxBytes: number;
  /** Returns why an address that a redirect leads to may not be read; null when it may. */
  problemWith(url: string): Promise<string | null> | string | null;
}

const requestMs = 30_000;
const maxRedirects = 5;
const maxRetries = 2;
const maxWaitMs = 60_000;
const usualWaitMs = 5_000;
const failuresInRow = 5;

export type WebsiteClient = ReturnType<typeof createWebsiteClient>;

/** Asks one website, one request at a time. Errors: PageError, CrawlStop, the signal's reason. */
export function createWebsiteClient({
  egress,
  delayMs: usualMs,
  signal,
  wait = (ms, until) => sleep(ms, undefined, { signal: until }),
}: WebsiteClientOptions) {
  let delayMs = usualMs;
  let isFirst = true;
  let failures = 0;

  /** A page may fail on its own; several in a row mean that the website does. */
  function countFailure({ host }: URL, cause?: unknown): void {
    failures += 1;
    if (failures >= failuresInRow) throw new CrawlStop(`${host} can no longer be reached.`, { cause });
  }

  /** Sends a request; a website that asks for a pause gets it. */
  async function answerOf(url: URL, { headers, maxBytes }: WebsiteRequest): Promise<WebsiteAnswer> {
    for (let attempt = 0; ; attempt += 1) {
      if (!isFirst) await wait(delayMs, signal);
      isFirst = false;
      const answer = await answerOnce(url, { headers, maxBytes });
      if (answer.status !== 429 && answer.status !== 503) return answer;
      if (attempt === maxRetries) {
        if (answer.status === 429) throw new CrawlStop(`${url.host} answers with status 429, so the crawl stopped.`);
        countFailure(url);
        return answer;
      }
      const waitMs = readRetryAfter(answer.headers['retry-after']) ?? usualWaitMs;
      if (waitMs > maxWaitMs)
        throw new CrawlStop(`${url.host} asks to wait ${Math.ceil(waitMs / 1_000)} seconds, so the crawl stopped.`);
      await wait(waitMs, signal);
    }
  }

  async function answerOnce(
    url: URL,
    { headers, maxBytes }: Pick<WebsiteRequest, 'headers' | 'maxBytes'>,
  ): Promise<WebsiteAnswer> {
    const timeout = AbortSignal.timeout(requestMs);
    try {
      const response = await egress.request(url, {
        headers: { 'user-agent': agentName, 'accept-encoding': acceptedEncodings, ...headers },
        signal: AbortSignal.any([signal, timeout]),
      });
      const { statusCode: status = 502 } = response;
      if (status !== 200) response.destroy();
      const bytes = status === 200 ? await readBody(response, maxBytes) : new Uint8Array();
      if (status !== 503) failures = 0;
      const { headers: received, headersDistinct } = response;
      return { url: url.href, status, headers: received, robotsTags: headersDistinct['x-robots-tag'] ?? [], bytes };
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof BodyError) throw new PageError(cause.message, { cause });
      if (cause instanceof PrivateAddressError)
        throw new CrawlStop(`${url.host} leads to a private address, which is not allowed.`, { cause });
      countFailure(url, cause);
      const problem = timeout.aborted ? `was not sent within ${requestMs / 1_000} seconds` : 'could not be read';
      throw new PageError(problem, { cause });
    }
  }

  return {
    async get(request: WebsiteRequest): Promise<WebsiteAnswer> {
      let url = new URL(request.url);
      for (let hop = 0; hop <= maxRedirects; hop += 1) {
        const answer = await answerOf(url, request);
        const target = redirectOf(answer.status, answer.headers);
        if (target === null) return answer;
        const next = URL.parse(target, url);
        if (next === null) throw new PageError('redirects to no address');
        next.hash = '';
        const problem = await request.problemWith(next.href);
        if (problem !== null) throw new RedirectError(`redirects to ${next.href.slice(0, 200)}, ${problem}`);
        url = next;
      }
      throw new PageError(`redirects more than ${maxRedirects} times`);
    },
    /** Waits at least this long between requests from now on. */
    slowDown: (ms: number): void => void (delayMs = Math.max(delayMs, ms)),
  };
}
