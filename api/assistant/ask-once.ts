import type { SiteRow } from '../../db/sites/sites.ts';
import type { LeasedIndex } from './site-indexes.ts';
import type { Assistant } from './assistant.ts';
import { parseMessageRequest } from './message-request.ts';
import { isAnswer } from './prompt.ts';

/**
 * Asks a question as a reader would, without storing a conversation. Returns whether the documentation answered it, or
 * null when that is unknown because the model failed or the signal aborted.
 */
export async function askOnce({
  assistant,
  site,
  index,
  question,
  signal,
}: {
  assistant: Assistant;
  site: SiteRow;
  index: LeasedIndex;
  question: string;
  signal: AbortSignal;
}): Promise<boolean | null> {
  const messages = [{ id: 'question', role: 'user', parts: [{ type: 'text', text: question }] }];
  const request = parseMessageRequest({ fp: 'anonymous', messages });
  const reply = await assistant.reply({ site: { ...site, retentionDays: 0 }, index, request, signal });
  let text = '';
  let hasFailed = false;
  await reply.run((part) => {
    if (part.type === 'text') text += part.text;
    if (part.type === 'failure') hasFailed = true;
    return null;
  });
  return hasFailed || signal.aborted ? null : isAnswer(text);
}
