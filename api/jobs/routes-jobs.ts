import type { Erasure } from '../../db/organizations/erasure.ts';
import type { JobStore } from '../../db/jobs/jobs.ts';
import type { ProjectRow, ProjectStore } from '../../db/organizations/projects.ts';
import type { RateLimitPolicy } from '../../db/operations/rate-limits.ts';
import { agentJobSchema, presentJob } from '../../db/jobs/agent-job.ts';
import type { AppRouter } from '../http/app-context.ts';
import type { ApiCaller } from '../access/api-caller.ts';
import type { Admission } from '../access/request-access.ts';
import { rateLimitFields } from '../access/rate-limit-fields.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { idempotencyConflict, projectNotFound } from '../http/errors.ts';
import { idempotencyKey } from '../http/idempotency-key.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { pageOf } from '../http/page-of.ts';
import type { JobCreation } from './create-job.ts';
import type { ReadJob } from './job-reader.ts';
import { createJobSchema, jobListSchema, listJobsSchema, ofJob, projectId, imagePromptBytes } from './job-schemas.ts';

export const jobRoutes = {
  createAgentJob: defineRoute({
    method: 'post',
    path: '/v2/agent/{projectId}/job',
    summary: 'Creates an agent job.',
    role: 'member',
    params: { projectId },
    headers: {
      'Idempotency-Key': idempotencyKey(
        'A repeated request with the same key and body returns the first job with 200.',
      ),
    },
    body: createJobSchema,
    example: { prompt: 'Fix the typos in README.md' },
    maxBytes: imagePromptBytes,
    responses: {
      201: json('The job, which is now active.', agentJobSchema),
      200: json('The job that an identical earlier request created (Idempotent-Replay: true).', agentJobSchema),
    },
    errors: [409],
  }),
  getAgentJob: defineRoute({
    method: 'get',
    path: '/v2/agent/{projectId}/job/{id}',
    summary: 'Returns an agent job. Poll it until its status is completed, archived or failed.',
    params: ofJob,
    responses: { 200: json('The job.', agentJobSchema) },
  }),
  deleteAgentJob: defineRoute({
    method: 'delete',
    path: '/v2/agent/{projectId}/job/{id}',
    summary: 'Deletes an agent job permanently, with everything stored about it.',
    description:
      'An active job is stopped first. What it published to a forge remains, except pull requests of the local forge. Forks of the job remain.',
    role: 'member',
    params: ofJob,
    responses: { 204: { description: 'The job is deleted.' } },
  }),
  listAgentJobs: defineRoute({
    method: 'get',
    path: '/v2/agent/{projectId}/jobs',
    summary: 'Lists the agent jobs of a project, newest first.',
    params: { projectId },
    query: listJobsSchema,
    responses: { 200: json('A page of jobs.', jobListSchema) },
  }),
};

export interface JobRouteDeps {
  admit: Admission;
  jobPolicy: RateLimitPolicy;
  projects: Pick<ProjectStore, 'get'>;
  jobs: Pick<JobStore, 'list'>;
  erasure: Pick<Erasure, 'job'>;
  creation: JobCreation;
  readJob: ReadJob;
  /** Called after a job has been stored, so that its workflow starts at once. */
  onCreated: () => void;
  /** Called after the cancellation of workflows has been recorded. */
  onCancelled: () => void;
}

export function createJobsRouter(deps: JobRouteDeps): AppRouter {
  const { creation, readJob } = deps;

  async function projectOf(caller: ApiCaller, id: string): Promise<ProjectRow> {
    const project = await deps.projects.get(caller, id);
    if (project === null) throw projectNotFound();
    return project;
  }

  return mountRoutes(deps.admit, jobRoutes, {
    async createAgentJob({ ctx, caller, params, headers, body }) {
      const project = await projectOf(caller, params.projectId);
      const request = { project, body: await body(), idempotencyKey: headers['Idempotency-Key'] ?? null };
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
      return presentJob(created.job);
    },

    async getAgentJob({ caller, params }) {
      return presentJob(await readJob(caller, params.projectId, params.id));
    },

    async deleteAgentJob({ caller, params }) {
      const job = await readJob(caller, params.projectId, params.id);
      await deps.erasure.job(caller, job.id);
      deps.onCancelled();
    },

    async listAgentJobs({ caller, params, query }) {
      const project = await projectOf(caller, params.projectId);
      const { jobs, nextCursor } = await pageOf(() => deps.jobs.list(caller, project.id, query));
      return { jobs: jobs.map(presentJob), nextCursor };
    },
  });
}
