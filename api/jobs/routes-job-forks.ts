import { newId } from '../../db/ids.ts';
import type { Fork, JobForkStore } from '../../db/jobs/job-forks.ts';
import type { JobStore } from '../../db/jobs/jobs.ts';
import type { RateLimitPolicy } from '../../db/operations/rate-limits.ts';
import { agentJobSchema, presentJob } from '../../db/jobs/agent-job.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import type { ApiError } from '../http/errors.ts';
import { forkNeedsPrompt, idempotencyConflict, jobNotFound, stepNotFinished } from '../http/errors.ts';
import { hashOfRequest, idempotencyKey } from '../http/idempotency-key.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { checkModels, namedModels } from '../administration/named-models.ts';
import type { ReadJob } from './job-reader.ts';
import { forkJobSchema, ofJob, promptBytes } from './job-schemas.ts';
import type { Admission } from '../access/request-access.ts';
import { rateLimitFields } from '../access/rate-limit-fields.ts';

export const jobForkRoutes = {
  forkAgentJob: defineRoute({
    method: 'post',
    path: '/v2/agent/{projectId}/job/{id}/fork',
    summary: 'Creates a job that continues from a step of another job.',
    description:
      'The new job copies the conversation and the working copy as of the step, and continues with the next one on its own branch and pull request. It counts as a new job.',
    role: 'member',
    params: ofJob,
    headers: {
      'Idempotency-Key': idempotencyKey(
        'A repeated request with the same key and body returns the first job with 200.',
      ),
    },
    body: forkJobSchema,
    maxBytes: promptBytes,
    responses: {
      201: json('The new job, which is active.', agentJobSchema),
      200: json('The job that an identical earlier request created (Idempotent-Replay: true).', agentJobSchema),
    },
    errors: [409],
  }),
};

export interface JobForkRouteDeps {
  admit: Admission;
  jobs: Pick<JobStore, 'findEarlier'>;
  /** Rate limit of new jobs, which forks count toward. */
  jobPolicy: RateLimitPolicy;
  forks: JobForkStore;
  problemWithModel: (name: string) => string | null;
  readJob: ReadJob;
  /** Called after a job has been stored, so that its workflow starts at once. */
  onCreated: () => void;
}

export function createJobForksRouter(deps: JobForkRouteDeps): AppRouter {
  return mountRoutes(deps.admit, jobForkRoutes, {
    async forkAgentJob({ ctx, caller, params, headers, body }) {
      const source = await deps.readJob(caller, params.projectId, params.id);
      const key = headers['Idempotency-Key'];
      const { turn, step, model, models, prompt = null } = await body();
      const named = models === undefined ? [model ?? null, prompt] : [model ?? null, prompt, models];
      const requestHash = hashOfRequest(['fork', source.id, turn ?? null, step, ...named]);
      const idempotency = key === undefined ? null : { key, requestHash };
      const counter = { key: `job:${source.projectId}`, policy: deps.jobPolicy };

      async function write(): Promise<Fork> {
        const asked = namedModels({ model, models }, deps.problemWithModel) ?? null;
        if (asked === null) checkModels([source.model, ...source.fallbackModels], deps.problemWithModel);
        const from = { jobId: source.id, turn, step };
        return deps.forks.fork(caller, { id: newId('job_'), from, models: asked, prompt, idempotency, counter });
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
      return presentJob(fork.job);
    },
  });
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
