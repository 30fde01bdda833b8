import { canBeId } from '../../db/ids.ts';
import type { Erasure } from '../../db/organizations/erasure.ts';
import type { AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import { projectNotFound } from '../http/errors.ts';
import type { ReadJob } from '../jobs/job-reader.ts';
import type { Authenticate } from '../access/authentication.ts';

export interface DeletionRouteDeps {
  authenticate: Authenticate;
  readJob: ReadJob;
  erasure: Pick<Erasure, 'job' | 'project'>;
  /** Called after executions were noted to be cancelled. */
  onCancelled: () => void;
}

/** Deletes a job or a project for good, whatever it is doing. */
export function createDeletionsRouter({ authenticate, readJob, erasure, onCancelled }: DeletionRouteDeps): AppRouter {
  const router = createRouter();

  router.delete('/v2/agent/:projectId/job/:id', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    const job = await readJob(caller, ctx.params['projectId'] ?? '', ctx.params['id'] ?? '');
    await erasure.job(caller, job.id);
    onCancelled();
    ctx.status = 204;
  });

  router.delete('/v1/projects/:id', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    const { id = '' } = ctx.params;
    if (!canBeId(id) || !(await erasure.project(caller, id))) throw projectNotFound();
    onCancelled();
    ctx.status = 204;
  });

  return router;
}
