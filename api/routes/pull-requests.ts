import { canBeId } from '../../db/ids.ts';
import type { PullRequestJob, PullRequestMergeStore } from '../../db/pull-request-merges.ts';
import type { PullRequestRow, PullRequestStore } from '../../db/pull-requests.ts';
import type { StepStore } from '../../db/worker/steps.ts';
import type { AppContext, AppRouter } from '../app-context.ts';
import { createRouter } from '../create-router.ts';
import { pullRequestNotFound, pullRequestOver } from '../errors.ts';
import type { Authenticate } from '../middleware/authentication.ts';
import type { PublicPullRequest } from '../pull-request-schemas.ts';

export interface PullRequestRouteDeps {
  authenticate: Authenticate;
  pullRequests: Pick<PullRequestStore, 'get' | 'update'>;
  merges: Pick<PullRequestMergeStore, 'jobOf' | 'mergeState' | 'requestMerge' | 'close'>;
  steps: Pick<StepStore, 'snapshot'>;
}

type Found = { row: PullRequestRow; job: PullRequestJob };

const base = '/v1/pull-requests/:id';

/** Pull requests of the local forge. */
export function createPullRequestsRouter(deps: PullRequestRouteDeps): AppRouter {
  const { authenticate, pullRequests, merges, steps } = deps;
  const router = createRouter();

  async function find(ctx: AppContext & { params: Record<string, string | undefined> }): Promise<Found> {
    const key = await authenticate(ctx.req, 'admin');
    const id = ctx.params['id'] ?? '';
    const row = canBeId(id) ? await pullRequests.get(id) : null;
    const job = row === null ? null : await merges.jobOf(row.id);
    if (row === null || job === null || job.organizationId !== key.organizationId) throw pullRequestNotFound();
    ctx.set('Cache-Control', 'no-store');
    return { row, job };
  }

  async function present({ row, job }: Found): Promise<PublicPullRequest> {
    const { id, number, repository, head, base, title, body, draft, state, createdAt, updatedAt } = row;
    return {
      id,
      number,
      repository,
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
      merge: await merges.mergeState(id),
      createdAt: createdAt.toISOString(),
      updatedAt: updatedAt.toISOString(),
    };
  }

  /** As it is after the change. */
  async function answer(ctx: AppContext, { row, job }: Found): Promise<void> {
    ctx.body = await present({ row: (await pullRequests.get(row.id)) ?? row, job });
  }

  router.get(base, async (ctx) => answer(ctx, await find(ctx)));

  router.get(`${base}/diff`, async (ctx) => {
    const { job } = await find(ctx);
    const snapshot = job.headTree === null ? null : await steps.snapshot(job.id, job.headTree);
    ctx.set('Content-Type', 'text/x-diff; charset=utf-8');
    ctx.body = snapshot?.patch ?? '';
  });

  router.post(`${base}/merge`, async (ctx) => {
    const found = await find(ctx);
    if (found.row.state !== 'merged' && !(await merges.requestMerge(found.row.id))) {
      throw pullRequestOver(found.row.draft && found.row.state === 'open' ? 'a draft' : found.row.state);
    }
    ctx.status = 202;
    await answer(ctx, found);
  });

  router.post(`${base}/close`, async (ctx) => {
    const found = await find(ctx);
    if (found.row.state !== 'closed' && !(await merges.close(found.row.id))) {
      throw pullRequestOver(found.row.state === 'open' ? 'being merged' : found.row.state);
    }
    await answer(ctx, found);
  });

  router.post(`${base}/ready`, async (ctx) => {
    const found = await find(ctx);
    if (found.row.state !== 'open') throw pullRequestOver(found.row.state);
    await pullRequests.update(found.row.id, { draft: false });
    await answer(ctx, found);
  });

  return router;
}
