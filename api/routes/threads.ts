import type { ThreadStore } from '../../db/threads.ts';
import type { AppContext, AppRouter } from '../app-context.ts';
import { createRouter } from '../create-router.ts';
import { threadNotFound } from '../errors.ts';
import { presentThread } from '../presenters/thread.ts';
import type { SiteAccess } from '../site-access.ts';

/** `GET` and `DELETE /discovery/v1/assistant/{domain}/thread/{threadId}`, with the admin key. */
export function createThreadsRouter({ access, threads }: { access: SiteAccess; threads: ThreadStore }): AppRouter {
  const router = createRouter();
  const path = '/discovery/v1/assistant/:domain/thread/:threadId';

  async function threadOf(ctx: AppContext, { domain = '', threadId = '' }: Record<string, string>) {
    const { site } = await access.forAdmin(ctx, domain);
    const thread = await threads.get(site.organizationId, threadId);
    if (thread === null || thread.siteId !== site.id) throw threadNotFound();
    return { site, thread };
  }

  router.get(path, async (ctx) => {
    ctx.body = presentThread((await threadOf(ctx, ctx.params)).thread);
  });

  router.delete(path, async (ctx) => {
    const { site, thread } = await threadOf(ctx, ctx.params);
    await threads.remove(site.organizationId, thread.id);
    ctx.status = 204;
  });

  return router;
}
