import type { z } from 'zod';
import type { SiteRef } from '../../db/caller.ts';
import type { ConversationStore } from '../../db/sites/conversations.ts';
import { messageNotFound } from '../http/errors.ts';
import type { feedbackSchema } from './gap-schemas.ts';

type Rating = z.output<typeof feedbackSchema>;

/** Stores a reader's rating of an answer and returns it. Throws 404 when the site has no such answer. */
export type RateAnswer = (site: SiteRef, rating: Rating) => Promise<Rating>;

export function createRateAnswer({ conversations }: { conversations: Pick<ConversationStore, 'rate'> }): RateAnswer {
  return async (site, { threadId, messageId, vote, reasons, comment }) => {
    const feedback = { vote, reasons, comment: comment === '' ? null : comment };
    if (!(await conversations.rate(site, { threadId, messageId, feedback }))) throw messageNotFound();
    return { threadId, messageId, ...feedback };
  };
}
