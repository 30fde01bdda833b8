import type { SiteRow } from '../../db/sites/sites.ts';
import type { LeasedIndex } from './site-indexes.ts';
import type { Assistant } from './assistant.ts';
import { parseMessageRequest } from './message-request.ts';
import { isAnswer } from './prompt.ts';

interface OneQuestion {
  assistant: Assistant;
  site: SiteRow;
  index: LeasedIndex;
  question: string;
  retrievalPageSize?: number;
  signal: AbortSignal;
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
  /** Model that wrote the answer, as `provider/model`. */
  modelName: string;
  costMicros: number;
}

/**
 * Asks a question as a reader would, without storing a conversation. Returns null when the model failed or the signal
 * aborted.
 */
export async function askForWhole(asked: OneQuestion): Promise<OneAnswer | null> {
  const { assistant, site, index, question, retrievalPageSize, signal } = asked;
  const messages = [{ id: 'question', role: 'user', parts: [{ type: 'text', text: question }] }];
  const request = parseMessageRequest({ fp: 'anonymous', messages, retrievalPageSize });
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
  const { modelName, costMicros } = reply;
  return { text, isAnswered: isAnswer(text), cited, found, modelName: modelName(), costMicros: costMicros() };
}

/**
 * Asks a question as a reader would, without storing a conversation. Returns whether the documentation answered it, or
 * null when that is unknown because the model failed or the signal aborted.
 */
export async function askOnce(asked: OneQuestion): Promise<boolean | null> {
  return (await askForWhole(asked))?.isAnswered ?? null;
}
