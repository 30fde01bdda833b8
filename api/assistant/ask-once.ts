import { setTimeout as wait } from 'node:timers/promises';
import { anonymousFingerprint } from '../../db/sites/site-facts.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import type { IndexLease, LeasedIndex, SiteIndexes } from './site-indexes.ts';
import type { Assistant } from './assistant.ts';
import { parseMessageRequest } from './message-request.ts';
import { isAnswer } from './prompt.ts';

const maxAnswerMs = 90_000;
const indexWaits = 40;
const indexWaitMs = 250;

interface OneQuestion {
  assistant: Assistant;
  site: SiteRow;
  index: LeasedIndex;
  /** Earlier questions of the conversation, oldest first. */
  history?: string[];
  question: string;
  retrievalPageSize?: number;
  stopping: AbortSignal;
}

/** An answer to a question that was asked without storing a conversation. */
export interface OneAnswer {
  text: string;
  /** Whether the documentation answered the question. */
  isAnswered: boolean;
  /** Paths of cited pages. */
  cited: string[];
  /** Paths of the passages that were found first. */
  found: string[];
  /** Query that was searched for instead of the question; null if the question was. */
  searchQuery: string | null;
  /** Model that wrote the answer, as `provider/model`. */
  modelName: string;
  /** Whether another model answered because a call would exceed the site's daily budget even if nothing were spent. */
  exceedsBudget: boolean;
  costMicros: number;
}

/**
 * Asks a question as a reader would, without storing a conversation. Returns null when the model failed or took
 * too long, or this process is stopping.
 */
export async function askOnce(asked: OneQuestion): Promise<OneAnswer | null> {
  const { assistant, site, index, history = [], question, retrievalPageSize, stopping } = asked;
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(maxAnswerMs)]);
  const messages = [...history, question].map((content) => ({ role: 'user', content }));
  const request = parseMessageRequest({ fp: anonymousFingerprint, messages, retrievalPageSize });
  const reply = await assistant.reply({ site: { ...site, retentionDays: 0 }, index, request, signal });
  let text = '';
  const cited: string[] = [];
  let hasFailed = false;
  await reply.run((part) => {
    if (part.type === 'text') text += part.text;
    if (part.type === 'source') cited.push(part.source.path);
    if (part.type === 'failure') hasFailed = true;
    return null;
  });
  if (hasFailed || signal.aborted) return null;
  const found = [...new Set(reply.results.map(({ path }) => path))];
  const { searchQuery, modelName, exceedsBudget, costMicros } = reply;
  return {
    text,
    isAnswered: isAnswer(text),
    cited,
    found,
    searchQuery,
    modelName: modelName(),
    exceedsBudget: exceedsBudget(),
    costMicros: costMicros(),
  };
}

/**
 * Leases the site's current index for questions whose answers only the organization sees. Waits while this process is
 * still downloading it; null when that takes too long, or the site has none.
 */
export async function leaseNewest(indexes: Pick<SiteIndexes, 'lease'>, site: SiteRow): Promise<IndexLease | null> {
  for (let waits = 0; waits < indexWaits; waits += 1) {
    const lease = await indexes.lease(site, 'all');
    if (lease !== null && lease.version >= site.indexVersion) return lease;
    lease?.release();
    await wait(indexWaitMs);
  }
  return null;
}
