import type { JobStore } from '../../db/jobs/jobs.ts';
import type { ProjectRow, ProjectStore } from '../../db/organizations/projects.ts';
import type { RateLimitPolicy } from '../../db/operations/rate-limits.ts';
import type { AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import type { JobCreation } from './create-job.ts';
import { idempotencyConflict, projectNotFound } from '../http/errors.ts';
import { idempotencyKeyOf } from '../http/idempotency-key.ts';
import type { ReadJob } from './job-reader.ts';
import { createJobSchema, listJobsSchema } from './job-schemas.ts';
import { readJsonBody } from '../http/json-body.ts';
import type { ApiCaller } from '../access/api-caller.ts';
import type { Authenticate } from '../access/authentication.ts';
import { pageOf } from '../http/page-of.ts';
import { rateLimitFields } from '../access/rate-limit-fields.ts';
import { presentJob } from '../../db/jobs/agent-job.ts';

export interface JobRouteDeps {
  authenticate: Authenticate;
  jobPolicy: RateLimitPolicy;
  projects: Pick<ProjectStore, 'get'>;
  jobs: Pick<JobStore, 'list'>;
  creation: JobCreation;
  readJob: ReadJob;
  /** Called after a job was written, so that its workflow starts at once. */
  onCreated: () => void;
}

// 100,000 characters of up to four bytes, and the rest of the body
const largestBodyBytes = 512 * 1024;

/** Create, get and list jobs. */
export function createJobsRouter(deps: JobRouteDeps): AppRouter {
  const { authenticate, creation, readJob } = deps;
  const router = createRouter({ prefix: '/v2/agent/:projectId' });

  async function projectOf(caller: ApiCaller, projectId: string): Promise<ProjectRow> {
    const project = await deps.projects.get(caller, projectId);
    if (project === null) throw projectNotFound();
    return project;
  }

  router.post('/job', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    const project = await projectOf(caller, ctx.params['projectId'] ?? '');
    const idempotencyKey = idempotencyKeyOf(ctx.req.headers['idempotency-key']);
    const body = createJobSchema.parse(await readJsonBody(ctx.req, { maxBytes: largestBodyBytes }));
    const request = { project, body, idempotencyKey };
    const counter = { key: `job:${project.id}`, policy: deps.jobPolicy };
    const created =
      (await creation.findEarlier(caller, request)) ??
      (await creation.write(caller, { ...(await creation.check(request)), counter }));
    if (created.kind === 'conflict') throw idempotencyConflict('job');
    if (created.kind === 'unknown') throw projectNotFound();
    if (created.kind === 'created') {
      ctx.state.turn = { jobId: created.job.id, turn: created.job.turn };
      if (created.allowance !== null) ctx.set(rateLimitFields([{ ...counter, answer: created.allowance }]));
      deps.onCreated();
    }
    if (created.kind === 'replayed') ctx.set('Idempotent-Replay', 'true');
    ctx.status = created.kind === 'created' ? 201 : 200;
    ctx.set('Location', `/v2/agent/${project.id}/job/${created.job.id}`);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = presentJob(created.job);
  });

  router.get('/jobs', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    const project = await projectOf(caller, ctx.params['projectId'] ?? '');
    const query = listJobsSchema.parse({ ...ctx.query });
    const { jobs, nextCursor } = await pageOf(() => deps.jobs.list(caller, project.id, query));
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { jobs: jobs.map(presentJob), nextCursor };
  });

  router.get('/job/:id', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    const row = await readJob(caller, ctx.params['projectId'] ?? '', ctx.params['id'] ?? '');
    ctx.set('Cache-Control', 'no-store');
    ctx.body = presentJob(row);
  });

  return router;
}
