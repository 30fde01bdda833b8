import type { ConversationStore } from '../../db/sites/conversations.ts';
import type { EmptySearchStore } from '../../db/sites/empty-searches.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json, type RouteRequest } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { pageOf } from '../http/page-of.ts';
import {
  conversationPageSchema,
  conversationQuerySchema,
  emptySearchesSchema,
  feedbackSchema,
  maxSearches,
  searchesQuerySchema,
} from './gap-schemas.ts';
import { presentConversation } from './present-gap.ts';
import type { RateAnswer } from './rate-answer.ts';
import { domain } from './site-schemas.ts';
import type { ReadSite } from './site-reader.ts';

function rating<const Version extends 'v1' | 'v2'>(version: Version) {
  return defineRoute({
    method: 'post',
    path: `/discovery/${version}/assistant/{domain}/feedback`,
    summary: 'Rates an answer of the assistant.',
    description: 'Replaces an earlier rating of the same answer.',
    key: 'assistant',
    params: { domain },
    body: feedbackSchema,
    maxBytes: 32 * 1024,
    responses: { 200: json('The rating.', feedbackSchema) },
  });
}

/** Routes for readers' ratings of answers, their conversations and their searches without results. */
export const feedbackRoutes = {
  rateAnswerV1: rating('v1'),
  rateAnswer: rating('v2'),
  listConversations: defineRoute({
    method: 'get',
    path: '/v1/sites/{domain}/conversations',
    summary: 'Lists the conversations of a site, newest first.',
    params: { domain },
    query: conversationQuerySchema,
    responses: { 200: json('A page of conversations.', conversationPageSchema) },
  }),
  listEmptySearches: defineRoute({
    method: 'get',
    path: '/v1/sites/{domain}/searches',
    summary: 'Lists the searches that found nothing, most frequent first.',
    params: { domain },
    query: searchesQuerySchema,
    responses: { 200: json('Up to 200 searches.', emptySearchesSchema) },
  }),
};

export interface FeedbackRouteDeps {
  admit: Admission;
  readSite: ReadSite;
  rateAnswer: RateAnswer;
  conversations: Pick<ConversationStore, 'list'>;
  emptySearches: Pick<EmptySearchStore, 'list'>;
}

export function createFeedbackRouter({ admit, readSite, rateAnswer, ...stores }: FeedbackRouteDeps): AppRouter {
  async function rate({ caller, params, body }: RouteRequest<typeof feedbackRoutes.rateAnswer>) {
    return rateAnswer(await readSite(caller, params.domain), await body());
  }

  return mountRoutes(admit, feedbackRoutes, {
    rateAnswerV1: rate,
    rateAnswer: rate,

    async listConversations({ caller, params, query: { q, ...query } }) {
      const site = await readSite(caller, params.domain);
      const { topic, version, language, ...more } = query;
      const { conversations, nextCursor } = await pageOf(() =>
        stores.conversations.list(site, {
          ...more,
          search: q || undefined,
          location: { topic, version, language },
        }),
      );
      return { conversations: conversations.map(presentConversation), nextCursor };
    },

    async listEmptySearches({ caller, params, query: { days } }) {
      const site = await readSite(caller, params.domain);
      const found = await stores.emptySearches.list(site, { days, limit: maxSearches });
      return {
        searches: found.map(({ query, count, lastAt }) => ({ query, count, lastAt: lastAt.toISOString() })),
      };
    },
  });
}
