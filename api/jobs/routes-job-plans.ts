import { agentJobSchema, presentJob } from '../../db/jobs/agent-job.ts';
import type { DecidedPlan, JobPlanStore } from '../../db/jobs/job-plans.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { jobArchived, jobNotFound, planNotDecidable, turnUnknown, type ApiError } from '../http/errors.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import type { ReadJob } from './job-reader.ts';
import { approvePlanSchema, ofJob, rejectPlanSchema } from './job-schemas.ts';

const maxBytes = 64 * 1024;

export const jobPlanRoutes = {
  approveAgentJob: defineRoute({
    method: 'post',
    path: '/v2/agent/{projectId}/job/{id}/approve',
    summary: 'Approves the plan of an agent job.',
    description:
      'The agent carries out the plan in a new turn. A repeated approval with the same comment returns the job unchanged. To change the plan, send a message instead.',
    role: 'member',
    params: ofJob,
    body: approvePlanSchema,
    maxBytes,
    responses: { 200: json('The job.', agentJobSchema) },
    errors: [409],
  }),
  rejectAgentJob: defineRoute({
    method: 'post',
    path: '/v2/agent/{projectId}/job/{id}/reject',
    summary: 'Rejects the plan of an agent job.',
    description:
      'The job fails with the category plan_rejected; a follow-up message asks for another plan. A repeated rejection with the same reason returns the job unchanged.',
    role: 'member',
    params: ofJob,
    body: rejectPlanSchema,
    maxBytes,
    responses: { 200: json('The job.', agentJobSchema) },
    errors: [409],
  }),
};

export interface JobPlanRouteDeps {
  admit: Admission;
  plans: JobPlanStore;
  readJob: ReadJob;
  /** Called after a turn has been stored, so that its workflow starts at once. */
  onBegun: () => void;
}

export function createJobPlansRouter({ admit, plans, readJob, onBegun }: JobPlanRouteDeps): AppRouter {
  return mountRoutes(admit, jobPlanRoutes, {
    async approveAgentJob({ ctx, caller, params, body }) {
      const { id } = await readJob(caller, params.projectId, params.id);
      const { turn, comment } = await body();
      const decided = await plans.approve(caller, { jobId: id, turn, text: comment ?? null });
      if (decided.kind === 'decided') {
        ctx.state.turn = { jobId: id, turn: decided.job.turn };
        onBegun();
      }
      return answerOf(ctx, decided);
    },

    async rejectAgentJob({ ctx, caller, params, body }) {
      const { id } = await readJob(caller, params.projectId, params.id);
      const { turn, reason } = await body();
      return answerOf(ctx, await plans.reject(caller, { jobId: id, turn, text: reason ?? null }));
    },
  });
}

function answerOf(ctx: AppContext, decided: DecidedPlan) {
  if (!('job' in decided)) throw refusalOf(decided.kind);
  if (decided.kind === 'repeated') ctx.set('Idempotent-Replay', 'true');
  return presentJob(decided.job);
}

type Refusal = Exclude<DecidedPlan, { job: unknown }>['kind'];

const sentences: Record<Exclude<Refusal, 'unknown' | 'unknown-turn' | 'archived'>, string> = {
  'no-plan': 'The job has no plan to approve or reject. Create the job with "plan": "review".',
  'not-ready': 'The plan is not ready. Try again when details.phase is waiting.',
  outdated: 'There is a newer plan. Read it, then decide again.',
  rejected: 'The plan was rejected. Send a follow-up message to ask for another one.',
  asks: 'The agent waits for the answer to its question. Send it as a message.',
  ended: 'The job has ended without a decision about its plan. Send a follow-up message to continue.',
  'decided-otherwise': 'The plan was already decided. Send a message to tell the agent more.',
};

function refusalOf(kind: Refusal): ApiError {
  if (kind === 'unknown') return jobNotFound();
  if (kind === 'unknown-turn') return turnUnknown();
  return kind === 'archived' ? jobArchived() : planNotDecidable(sentences[kind]);
}
