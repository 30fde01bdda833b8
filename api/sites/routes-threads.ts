import type { ThreadStore } from '../../db/sites/threads.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import { threadNotFound } from '../http/errors.ts';
import { presentThread } from './present-thread.ts';
import type { SiteAccess } from './site-access.ts';
import { threadQuerySchema } from './thread-schemas.ts';

/** `GET` and `DELETE /discovery/v1/assistant/{domain}/thread/{threadId}`, with the admin key. */
export function createThreadsRouter({
  access,
  threads,
}: {
  access: Pick<SiteAccess, 'forAdmin'>;
  threads: Pick<ThreadStore, 'get' | 'remove'>;
}): AppRouter {
  const router = createRouter();
  const path = '/discovery/v1/assistant/:domain/thread/:threadId';

  async function threadOf(ctx: AppContext, { domain = '', threadId = '' }: Record<string, string>) {
    const { cursor = '0', limit } = threadQuerySchema.parse({ ...ctx.query });
    const { site } = await access.forAdmin(ctx, domain);
    const thread = await threads.get(site, threadId, { after: cursor, limit });
    if (thread === null) throw threadNotFound();
    return thread;
  }

  router.get(path, async (ctx) => {
    ctx.body = presentThread(await threadOf(ctx, ctx.params));
  });

  router.delete(path, async (ctx) => {
    const { domain = '', threadId = '' } = ctx.params;
    const { site, caller } = await access.forAdmin(ctx, domain);
    if (!(await threads.remove(caller, site.id, threadId))) throw threadNotFound();
    ctx.status = 204;
  });

  return router;
}
