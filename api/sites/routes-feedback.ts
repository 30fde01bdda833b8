import type { ConversationStore } from '../../db/sites/conversations.ts';
import type { EmptySearchStore } from '../../db/sites/empty-searches.ts';
import type { AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import { messageNotFound } from '../http/errors.ts';
import { conversationQuerySchema, feedbackSchema, searchesQuerySchema, mostSearches } from './gap-schemas.ts';
import { readJsonBody } from '../http/json-body.ts';
import { pageOf } from '../http/page-of.ts';
import { presentConversation } from './present-gap.ts';
import type { SiteAccess } from './site-access.ts';

export interface FeedbackRouteDeps {
  access: SiteAccess;
  conversations: Pick<ConversationStore, 'rate' | 'list'>;
  emptySearches: Pick<EmptySearchStore, 'list'>;
}

const largestBody = 32 * 1024;
/** What readers say of answers, what they asked, and what they searched and did not find. */
export function createFeedbackRouter({ access, conversations, emptySearches }: FeedbackRouteDeps): AppRouter {
  const router = createRouter();

  router.post(
    ['v1', 'v2'].map((version) => `/discovery/${version}/assistant/:domain/feedback`),
    async (ctx) => {
      const { site } = await access.forReader(ctx, ctx.params['domain'] ?? '');
      const body = feedbackSchema.parse(await readJsonBody(ctx.req, { maxBytes: largestBody }));
      const { threadId, messageId, vote, reasons, comment } = body;
      const feedback = { vote, reasons, comment: comment === '' ? null : comment };
      if (!(await conversations.rate(site, { threadId, messageId, feedback }))) throw messageNotFound();
      ctx.set('Cache-Control', 'no-store');
      ctx.body = { threadId, messageId, ...feedback };
    },
  );

  router.get('/v1/sites/:domain/conversations', async (ctx) => {
    const { site } = await access.forAdmin(ctx, ctx.params['domain'] ?? '');
    const { q, ...query } = conversationQuerySchema.parse({ ...ctx.query });
    const page = await pageOf(() => conversations.list(site, { ...query, search: q || undefined }));
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { conversations: page.conversations.map(presentConversation), nextCursor: page.nextCursor };
  });

  router.get('/v1/sites/:domain/searches', async (ctx) => {
    const { site } = await access.forAdmin(ctx, ctx.params['domain'] ?? '');
    const { days } = searchesQuerySchema.parse({ ...ctx.query });
    const found = await emptySearches.list(site, { days, limit: mostSearches });
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { searches: found.map(({ query, count, lastAt }) => ({ query, count, lastAt: lastAt.toISOString() })) };
  });

  return router;
}
