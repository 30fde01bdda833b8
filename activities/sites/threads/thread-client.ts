import { setTimeout as sleep } from 'node:timers/promises';
import { AnswerLimitError } from '../../../lib/network/egress.ts';
import type { ForgeApi } from '../../forges/forge-api.ts';
import { failureOfAnswer } from '../../forges/forge-failure.ts';
import type { ForgeResponse } from '../../forges/forge-http.ts';
import { ForgeError } from '../../forges/forge.ts';

/** An entry in a list of threads, whose content is read when it has changed. */
export interface ListedThread {
  id: string;
  url: string;
  title: string;
  /** In UTC, so that times compare as texts. */
  changedAt: string;
  /** Differs when its content may have changed. */
  version: string;
  /** A closed issue; elsewhere, a thread with an accepted answer. */
  isSettled: boolean;
  /** Everybody who may see the list may see it. */
  isForAll: boolean;
  labels: string[];
  /** Returns its content, with the first replies; null if it does not exist. */
  read(maxReplies: number): Promise<ThreadContent | null>;
}

export interface ThreadContent {
  /** The question, in Markdown or HTML like the replies. */
  text: string;
  isHtml: boolean;
  /** Null when the account is gone. */
  author: string | null;
  /** The accepted one first, then the oldest. */
  replies: ThreadReply[];
}

export interface ThreadReply {
  text: string;
  author: string | null;
  /** Its author works on the repository, or is staff of the forum. */
  isMaintainer: boolean;
  isAccepted: boolean;
}

export interface ListedPage {
  /** Null for entries that are no threads, or have not changed. */
  entries: (ListedThread | null)[];
  /** Version of the list, of its first page; null where there is none. */
  etag: string | null;
}

export interface ThreadQuery {
  /** Only what changed at this time or later. */
  since: string | null;
  /** Only settled threads; others may come too. */
  isSettled: boolean;
  /** Version of the list that is known already. */
  etag: string | null;
}

/** Access to the threads of one repository. */
export interface ThreadClientOptions {
  api: ForgeApi;
  /** Time between requests. */
  delayMs: number;
  signal: AbortSignal;
}

/** Asks a server for threads, one request at a time. Errors: ForgeError, the signal's reason. */
export interface ThreadClient {
  /** Returns why the threads are not public, as a sentence; null if they are public. */
  problemWithAccess(): Promise<string | null>;
  /** Reads a list page by page; nothing of a list that still has its version. */
  list(query: ThreadQuery): AsyncGenerator<ListedPage>;
}

const maxRetries = 2;
const maxWaitMs = 60_000;

/** Returns a function that asks again after a pause when the server wants one. It returns any other answer. */
export function createRetryingAsk<Question>({
  send,
  failureOf,
  delayMs,
  signal,
}: {
  send(question: Question): Promise<ForgeResponse>;
  /** Returns null for an invalid response. */
  failureOf(response: ForgeResponse): ForgeError | null;
  /** Time between requests. */
  delayMs: number;
  signal: AbortSignal;
}): (question: Question) => Promise<ForgeResponse> {
  let isFirst = true;
  return async (question) => {
    for (let attempt = 0; ; attempt += 1) {
      if (!isFirst) await sleep(delayMs, undefined, { signal });
      isFirst = false;
      const response = await send(question);
      const failure = failureOf(response);
      if (failure?.kind !== 'rate-limited' && failure?.kind !== 'unavailable') return response;
      const { retryAfterMs: waitMs } = failure;
      if (waitMs === null || waitMs > maxWaitMs || attempt === maxRetries) throw failure;
      await sleep(waitMs, undefined, { signal });
    }
  };
}

/** Returns the error for an answer of a forge that is asked for issues or discussions. */
export function failureOfForge(
  { forge }: Pick<ForgeApi, 'forge'>,
  what: string,
  { status, headers, data }: ForgeResponse,
): ForgeError {
  const message = typeof data === 'object' && data !== null && 'message' in data ? String(data.message) : '';
  const failure = failureOfAnswer({ forge, status, headers, message });
  if (failure.kind !== 'authentication') return failure;
  const remedy = `Give a project of the repository a token that may read its ${what}.`;
  return new ForgeError('authentication', `${forge} refuses the credential. ${remedy}`);
}

/** Returns the sentence about issues or discussions that are not public. */
export function notPublic({ forge }: Pick<ForgeApi, 'forge'>, what: string): string {
  return `The ${what} on ${forge} are not public. Name the groups of readers who may see them.`;
}

/** Returns the error for an answer that has another shape than its server documents. */
export function notItsApi(server: string): ForgeError {
  return new ForgeError('rejected', `${server}'s response did not come from its API.`);
}

/** Reports whether an answer had more than can be read. */
export function isTooLong(error: unknown): boolean {
  return error instanceof ForgeError && error.cause instanceof AnswerLimitError;
}
