import type { Caller } from '../../db/caller.ts';
import type { FoundPullRequest, PullRequestStore } from '../../db/pull-requests/pull-requests.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import { pullRequestNotFound, pullRequestOver } from '../http/errors.ts';
import type { Authenticate } from '../access/authentication.ts';
import type { PublicPullRequest } from './pull-request-schemas.ts';
import { repositoryUrl } from '../../lib/inputs/repository.ts';

export interface PullRequestRouteDeps {
  authenticate: Authenticate;
  pullRequests: PullRequestStore;
}

type Found = { caller: Caller; row: FoundPullRequest };

const base = '/v1/pull-requests/:id';

/** Pull requests of the local forge. */
export function createPullRequestsRouter({ authenticate, pullRequests }: PullRequestRouteDeps): AppRouter {
  const router = createRouter();

  async function find(ctx: AppContext & { params: Record<string, string | undefined> }): Promise<Found> {
    const caller = await authenticate(ctx.req, 'admin');
    const row = await pullRequests.find(caller, ctx.params['id'] ?? '');
    if (row === null) throw pullRequestNotFound();
    ctx.set('Cache-Control', 'no-store');
    return { caller, row };
  }

  /** As it is after the change. */
  async function answer(ctx: AppContext, { caller, row }: Found): Promise<void> {
    ctx.body = present((await pullRequests.find(caller, row.id)) ?? row);
  }

  router.get(base, async (ctx) => {
    ctx.body = present((await find(ctx)).row);
  });

  router.get(`${base}/diff`, async (ctx) => {
    const { caller, row } = await find(ctx);
    ctx.set('Content-Type', 'text/x-diff; charset=utf-8');
    ctx.body = (await pullRequests.patch(caller, row.id)) ?? '';
  });

  router.post(`${base}/merge`, async (ctx) => {
    const found = await find(ctx);
    const { caller, row } = found;
    if (row.state !== 'merged' && !(await pullRequests.requestMerge(caller, row.id))) {
      throw pullRequestOver(row.draft && row.state === 'open' ? 'a draft' : row.state);
    }
    ctx.status = 202;
    await answer(ctx, found);
  });

  router.post(`${base}/close`, async (ctx) => {
    const found = await find(ctx);
    const { caller, row } = found;
    if (row.state !== 'closed' && !(await pullRequests.close(caller, row.id))) {
      throw pullRequestOver(row.state === 'open' ? 'being merged' : row.state);
    }
    await answer(ctx, found);
  });

  router.post(`${base}/ready`, async (ctx) => {
    const found = await find(ctx);
    const { caller, row } = found;
    if (row.state !== 'open') throw pullRequestOver(row.state);
    await pullRequests.markReady(caller, row.id);
    await answer(ctx, found);
  });

  return router;
}

function present(row: FoundPullRequest): PublicPullRequest {
  const { id, number, repository, head, base, title, body, draft, state, job, merge, createdAt, updatedAt } = row;
  return {
    id,
    number,
    repository: repositoryUrl(repository),
    head,
    base,
    title,
    body,
    draft,
    state,
    job: { id: job.id, projectId: job.projectId },
    commits: job.commits.map(({ commit, turn, prompt, createdAt }) => ({
      id: commit,
      turn,
      title: turn === 1 ? title : (prompt.split('\n')[0] ?? ''),
      createdAt: new Date(createdAt).toISOString(),
    })),
    merge,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}
