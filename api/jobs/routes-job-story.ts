import type { Owner } from '../../db/caller.ts';
import type { JobStoryStore } from '../../db/jobs/job-story.ts';
import type { ThreadQueue } from '../../lib/threads/thread-queue.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import { stepNotFound } from '../http/errors.ts';
import type { ReadJob } from './job-reader.ts';
import { diffQuerySchema, stepPathSchema, stepsQuerySchema, turnsQuerySchema } from './job-story-schemas.ts';
import type { Authenticate } from '../access/authentication.ts';
import { presentStep, presentTurn } from './present-job-story.ts';

export interface JobStoryRouteDeps {
  authenticate: Authenticate;
  readJob: ReadJob;
  story: JobStoryStore;
  threadQueue: ThreadQueue;
}

const comparison = new URL('../../lib/patches/compare-thread.ts', import.meta.url);

/** What happened in a job: what was asked, the steps with their tool calls, and the change. */
export function createJobStoryRouter({ authenticate, readJob, story, threadQueue }: JobStoryRouteDeps): AppRouter {
  const router = createRouter({ prefix: '/v2/agent/:projectId/job/:id' });

  async function jobOf(
    ctx: AppContext & { params: Record<string, string | undefined> },
  ): Promise<{ owner: Owner; id: string }> {
    const owner = await authenticate(ctx.req, 'admin');
    ctx.set('Cache-Control', 'no-store');
    const { id } = await readJob(owner, ctx.params['projectId'] ?? '', ctx.params['id'] ?? '');
    return { owner, id };
  }

  router.get('/turns', async (ctx) => {
    const { owner, id } = await jobOf(ctx);
    const { rows, isFull } = await story.turns(owner, id, turnsQuerySchema.parse({ ...ctx.query }));
    ctx.body = { turns: rows.map(presentTurn), nextAfter: isFull ? (rows.at(-1)?.turn ?? null) : null };
  });

  router.get('/steps', async (ctx) => {
    const { owner, id } = await jobOf(ctx);
    const { rows, isFull } = await story.steps(owner, id, stepsQuerySchema.parse({ ...ctx.query }));
    const last = isFull ? rows.at(-1) : undefined;
    ctx.body = {
      steps: rows.map(presentStep),
      nextAfter: last === undefined ? null : `${last.turn}.${last.step}`,
    };
  });

  router.get('/steps/:turn/:step', async (ctx) => {
    const { owner, id } = await jobOf(ctx);
    const place = stepPathSchema.safeParse(ctx.params);
    const row = place.success ? await story.step(owner, { jobId: id, ...place.data }) : null;
    if (row === null) throw stepNotFound();
    ctx.body = presentStep(row);
  });

  router.get('/steps/:turn/:step/diff', async (ctx) => {
    const { owner, id } = await jobOf(ctx);
    const place = stepPathSchema.safeParse(ctx.params);
    const trees = place.success ? await story.treesAround(owner, { jobId: id, ...place.data }) : null;
    if (trees === null) throw stepNotFound();
    ctx.set('Content-Type', 'text/x-diff; charset=utf-8');
    ctx.body = '';
    if (!trees.differ) return;
    // one after the other: each may have 20 MB
    const before = trees.before === null ? null : await story.tree(owner, { jobId: id, tree: trees.before });
    const after = trees.after === null ? null : await story.tree(owner, { jobId: id, tree: trees.after });
    ctx.body = await threadQueue.run<unknown, string>({ script: comparison, data: { before, after } });
  });

  router.get('/diff', async (ctx) => {
    const { owner, id } = await jobOf(ctx);
    const { turn, step } = diffQuerySchema.parse({ ...ctx.query });
    const patch =
      turn === undefined || step === undefined
        ? await story.latestPatch(owner, id)
        : await story.patchAt(owner, { jobId: id, turn, step });
    ctx.set('Content-Type', 'text/x-diff; charset=utf-8');
    ctx.body = patch ?? '';
  });

  return router;
}
