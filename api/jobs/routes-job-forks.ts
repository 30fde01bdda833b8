import { newId } from '../../db/ids.ts';
import type { Fork, JobForkStore } from '../../db/jobs/job-forks.ts';
import type { JobStore } from '../../db/jobs/jobs.ts';
import type { RateLimitPolicy } from '../../db/operations/rate-limits.ts';
import { presentJob } from '../../db/jobs/agent-job.ts';
import type { AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import type { ApiError } from '../http/errors.ts';
import { forkNeedsPrompt, idempotencyConflict, invalidRequest, jobNotFound, stepNotFinished } from '../http/errors.ts';
import { hashOfRequest, idempotencyKeyOf } from '../http/idempotency-key.ts';
import type { ReadJob } from './job-reader.ts';
import { forkJobSchema } from './job-schemas.ts';
import { readJsonBody } from '../http/json-body.ts';
import type { Authenticate } from '../access/authentication.ts';
import { rateLimitFields } from '../access/rate-limit-fields.ts';

export interface JobForkRouteDeps {
  authenticate: Authenticate;
  jobs: Pick<JobStore, 'findEarlier'>;
  /** The one of new jobs: a fork is one. */
  jobPolicy: RateLimitPolicy;
  forks: JobForkStore;
  problemWithModel: (name: string) => string | null;
  readJob: ReadJob;
  /** Called after a job was written, so that its workflow starts at once. */
  onCreated: () => void;
}

// 100,000 characters of up to four bytes, and the rest of the body
const largestBodyBytes = 512 * 1024;

/** `POST …/job/{id}/fork`: a new job that goes on from a step of another. */
export function createJobForksRouter(deps: JobForkRouteDeps): AppRouter {
  const router = createRouter({ prefix: '/v2/agent/:projectId/job/:id' });

  router.post('/fork', async (ctx) => {
    const caller = await deps.authenticate(ctx.req, 'admin');
    const source = await deps.readJob(caller, ctx.params['projectId'] ?? '', ctx.params['id'] ?? '');
    const key = idempotencyKeyOf(ctx.req.headers['idempotency-key']);
    const body = forkJobSchema.parse(await readJsonBody(ctx.req, { maxBytes: largestBodyBytes }));
    const { turn, step, model = null, prompt = null } = body;
    const requestHash = hashOfRequest(['fork', source.id, turn ?? null, step, model, prompt]);
    const idempotency = key === null ? null : { key, requestHash };
    const counter = { key: `job:${source.projectId}`, policy: deps.jobPolicy };

    async function write(): Promise<Fork> {
      const modelProblem = deps.problemWithModel(model ?? source.model);
      if (modelProblem !== null) throw invalidRequest(modelProblem);
      const from = { jobId: source.id, turn, step };
      return deps.forks.fork(caller, { id: newId('job_'), from, model, prompt, idempotency, counter });
    }
    const fork = (await deps.jobs.findEarlier(caller, source.projectId, idempotency)) ?? (await write());
    if (!('job' in fork)) throw refusalOf(fork);
    if (fork.kind === 'created') {
      ctx.state.turn = { jobId: fork.job.id, turn: fork.job.turn };
      if (fork.allowance !== null) ctx.set(rateLimitFields([{ ...counter, answer: fork.allowance }]));
      deps.onCreated();
    }
    if (fork.kind === 'replayed') ctx.set('Idempotent-Replay', 'true');
    ctx.status = fork.kind === 'created' ? 201 : 200;
    ctx.set('Location', `/v2/agent/${source.projectId}/job/${fork.job.id}`);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = presentJob(fork.job);
  });

  return router;
}

function refusalOf(fork: Exclude<Fork, { job: unknown }>): ApiError {
  switch (fork.kind) {
    case 'no-step':
      return stepNotFinished(fork.turn, fork.lastStep);
    case 'needs-prompt':
      return forkNeedsPrompt();
    case 'conflict':
      return idempotencyConflict('job');
    default:
      return jobNotFound();
  }
}
