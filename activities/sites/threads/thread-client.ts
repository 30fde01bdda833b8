import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { AnswerLimitError } from '../../../lib/network/egress.ts';
import type { ForgeApi, ForgeQuestion } from '../../forges/forge-api.ts';
import { failureOfAnswer } from '../../forges/forge-failure.ts';
import type { ForgeResponse } from '../../forges/forge-http.ts';
import { ForgeError } from '../../forges/forge.ts';
import { threadForges, type ListedThread, type ListQuery, type ThreadReply } from './thread-forge.ts';

export interface ThreadClientOptions {
  api: ForgeApi;
  /** Time between requests. */
  delayMs: number;
  signal: AbortSignal;
}

export interface ListedPage {
  /** Null for entries that are no issues. */
  entries: (ListedThread | null)[];
  /** Version of the list, of its first page. */
  etag: string | null;
}

/** Asks a forge for the issues of one repository, one request at a time. Errors: ForgeError, the signal's reason. */
export interface ThreadClient {
  /** Reports whether everybody may see the issues. */
  isPublic(): Promise<boolean>;
  /** Reads a list page by page; nothing of a list that still has the version `etag`. */
  list(query: Pick<ListQuery, 'since' | 'isClosed'> & { etag: string | null }): AsyncGenerator<ListedPage>;
  /** Returns the first replies; null if the thread does not exist. */
  replies(id: string, most: number): Promise<ThreadReply[] | null>;
}

const mostRetries = 2;
const longestWaitMs = 60_000;
/** A page that is too long is read in smaller ones, so that one entry cannot stop the rest. */
const pageSizes = [50, 10, 1];
const refusals = new Set([401, 403, 404, 410]);

export function createThreadClient({ api, delayMs, signal }: ThreadClientOptions): ThreadClient {
  const forge = threadForges[api.kind];
  let isFirst = true;

  /** Returns any answer but one that asks for a pause: a short one is made. */
  async function ask(path: string, question: Omit<ForgeQuestion, 'signal'> = {}): Promise<ForgeResponse> {
    for (let attempt = 0; ; attempt += 1) {
      if (!isFirst) await sleep(delayMs, undefined, { signal });
      isFirst = false;
      const response = await api.get(path, { ...question, signal });
      if (response.status < 400) return response;
      const failure = failureOf(response);
      if (failure.kind !== 'rate-limited' && failure.kind !== 'unavailable') return response;
      const { retryAfterMs: waitMs } = failure;
      if (waitMs === null || waitMs > longestWaitMs || attempt === mostRetries) throw failure;
      await sleep(waitMs, undefined, { signal });
    }
  }

  function failureOf({ status, headers, data }: ForgeResponse): ForgeError {
    const message = typeof data === 'object' && data !== null && 'message' in data ? String(data.message) : '';
    return failureOfAnswer({ forge: api.forge, status, headers, message });
  }

  function parsed<Value>(schema: z.ZodType<Value>, response: ForgeResponse): Value {
    if (response.status !== 200) throw failureOf(response);
    const result = schema.safeParse(response.data);
    if (result.success) return result.data;
    throw new ForgeError('rejected', `${api.forge}'s response did not come from its API.`);
  }

  /** Yields a page of a list, in the first of these sizes that can be read. Returns whether another page follows. */
  async function* page(
    query: Pick<ListQuery, 'since' | 'isClosed'> & { etag: string | null },
    { at, sizes: [size = 1, ...smaller] }: { at: number; sizes: number[] },
  ): AsyncGenerator<ListedPage, boolean> {
    try {
      const { etag, ...filter } = query;
      const response = await ask(forge.listPath({ ...filter, page: at, size }), at === 1 ? { etag } : {});
      if (response.status === 304) return false;
      yield { entries: parsed(forge.list, response), etag: at === 1 ? (response.headers['etag'] ?? null) : null };
      return /;\s*rel="?next"?/.test(response.headers['link'] ?? '');
    } catch (error) {
      if (!isTooLong(error)) throw error;
    }
    const parts = size / (smaller[0] ?? Infinity);
    for (let part = 1; part <= parts; part += 1) {
      const inner = { at: (at - 1) * parts + part, sizes: smaller };
      if (!(yield* page({ ...query, etag: null }, inner))) return false;
    }
    return true;
  }

  return {
    async isPublic() {
      // an empty list: the newest issue may be too long to be read
      const since = new Date(Date.now() + 24 * 60 * 60_000).toISOString();
      const path = forge.listPath({ page: 1, size: 1, since, isClosed: false });
      const response = await ask(path, { isAnonymous: true });
      if (refusals.has(response.status)) return false;
      parsed(forge.list, response);
      const { access } = forge;
      return access === null || !api.hasCredential || parsed(access.isPublic, await ask(access.path));
    },
    async *list(query) {
      for (let at = 1; yield* page(query, { at, sizes: pageSizes }); at += 1);
    },
    async replies(id, most) {
      const response = await ask(forge.repliesPath(id, most));
      if (response.status === 404 || response.status === 410) return null;
      return parsed(forge.replies, response)
        .filter((reply) => reply !== null)
        .slice(0, most);
    },
  };
}

/** Reports whether an answer had more than can be read. */
export function isTooLong(error: unknown): boolean {
  return error instanceof ForgeError && error.cause instanceof AnswerLimitError;
}
