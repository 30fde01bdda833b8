import type { z } from 'zod';
import type { ForgeQuestion } from '../../forges/forge-api.ts';
import type { ForgeResponse } from '../../forges/forge-http.ts';
import { issueForges, type ListedIssue } from './issue-forges.ts';
import {
  createRetryingAsk,
  failureOfForge,
  isTooLong,
  notItsApi,
  notPublic,
  type ListedPage,
  type ListedThread,
  type ThreadClient,
  type ThreadClientOptions,
  type ThreadQuery,
} from './thread-client.ts';

/** A page that is too long is read in smaller ones, so that one entry cannot stop the rest. */
const pageSizes = [50, 10, 1];
const refusals = new Set([401, 403, 404, 410]);

/** Creates a client for the issues of one repository. */
export function createIssueClient({ api, delayMs, signal }: ThreadClientOptions): ThreadClient {
  const forge = issueForges[api.kind];
  const failureOf = (response: ForgeResponse) => failureOfForge(api, 'issues', response);
  const ask = createRetryingAsk<{ path: string } & Omit<ForgeQuestion, 'signal'>>({
    send: ({ path, ...question }) => api.get(path, { ...question, signal }),
    failureOf: (response) => (response.status < 400 ? null : failureOf(response)),
    delayMs,
    signal,
  });

  function parsed<Value>(schema: z.ZodType<Value>, response: ForgeResponse): Value {
    if (response.status !== 200) throw failureOf(response);
    const result = schema.safeParse(response.data);
    if (result.success) return result.data;
    throw notItsApi(api.forge);
  }

  function threadOf({ text, author, replies, ...issue }: ListedIssue): ListedThread {
    return {
      ...issue,
      version: issue.changedAt,
      async read(max) {
        const found = replies === 0 ? [] : await repliesOf(issue.id, max);
        return (
          found && { text, isHtml: false, author, replies: found.map((reply) => ({ ...reply, isAccepted: false })) }
        );
      },
    };
  }

  async function repliesOf(id: string, max: number) {
    const response = await ask({ path: forge.repliesPath(id, max) });
    if (response.status === 404 || response.status === 410) return null;
    return parsed(forge.replies, response)
      .filter((reply) => reply !== null)
      .slice(0, max);
  }

  /** Yields a page of a list, in the first of these sizes that can be read. Returns whether another page follows. */
  async function* page(
    { etag, since, isSettled: isClosed }: ThreadQuery,
    { at, sizes: [size = 1, ...smaller] }: { at: number; sizes: number[] },
  ): AsyncGenerator<ListedPage, boolean> {
    try {
      const path = forge.listPath({ since, isClosed, page: at, size });
      const response = await ask({ path, etag: at === 1 ? etag : null });
      if (response.status === 304) return false;
      const entries = parsed(forge.list, response).map((issue) => issue && threadOf(issue));
      yield { entries, etag: at === 1 ? (response.headers['etag'] ?? null) : null };
      return /;\s*rel="?next"?/.test(response.headers['link'] ?? '');
    } catch (error) {
      if (!isTooLong(error)) throw error;
    }
    const parts = size / (smaller[0] ?? Infinity);
    for (let part = 1; part <= parts; part += 1) {
      const inner = { at: (at - 1) * parts + part, sizes: smaller };
      if (!(yield* page({ since, isSettled: isClosed, etag: null }, inner))) return false;
    }
    return true;
  }

  async function isPublic(): Promise<boolean> {
    // an empty list: the newest issue may be too long to be read
    const since = new Date(Date.now() + 24 * 60 * 60_000).toISOString();
    const path = forge.listPath({ page: 1, size: 1, since, isClosed: false });
    const response = await ask({ path, isAnonymous: true });
    if (refusals.has(response.status)) return false;
    parsed(forge.list, response);
    const { access } = forge;
    return access === null || !api.hasCredential || parsed(access.isPublic, await ask({ path: access.path }));
  }

  return {
    async problemWithAccess() {
      return (await isPublic()) ? null : notPublic(api, 'issues');
    },
    async *list(query) {
      for (let at = 1; yield* page(query, { at, sizes: pageSizes }); at += 1);
    },
  };
}
