import type { JobEndings } from '../../db/jobs/job-endings.ts';
import type { JobMessageStore, SentMessage } from '../../db/jobs/job-messages.ts';
import type { RateLimitPolicy } from '../../db/operations/rate-limits.ts';
import { agentJobSchema, presentJob } from '../../db/jobs/agent-job.ts';
import type { AppRouter } from '../http/app-context.ts';
import type { Admission } from '../access/request-access.ts';
import { rateLimitFields } from '../access/rate-limit-fields.ts';
import { defineRoute, json } from '../http/define-route.ts';
import {
  ApiError,
  idempotencyConflict,
  jobActive,
  jobArchived,
  jobNotFound,
  turnFull,
  baseNotMergeable,
  turnOutdated,
  turnUnknown,
} from '../http/errors.ts';
import { hashOfRequest, idempotencyKey } from '../http/idempotency-key.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { refOf } from '../../db/jobs/job-images.ts';
import { checkImages } from './prompt-images.ts';
import type { ReadJob } from './job-reader.ts';
import { imagePromptBytes, jobMessageSchema, ofJob } from './job-schemas.ts';

export const jobActionRoutes = {
  sendAgentJobMessage: defineRoute({
    method: 'post',
    path: '/v2/agent/{projectId}/job/{id}/message',
    summary: 'Sends a follow-up message to an agent job.',
    description:
      'While the job is active, the agent reads the message before its next model call. After the job has ended, the message makes it active again: it continues its work on the same branch and pull request, or opens a new pull request if that one was closed or merged. A message to a job that waits with a question is the answer; with the turn of the question, it cannot become the answer to another one.',
    role: 'member',
    params: ofJob,
    headers: {
      'Idempotency-Key': idempotencyKey(
        'A repeated request with the same key and body does not send the message again (Idempotent-Replay: true).',
      ),
    },
    body: jobMessageSchema,
    example: { prompt: 'Mention it in the changelog, too' },
    maxBytes: imagePromptBytes,
    responses: { 200: json('The job, which is now active.', agentJobSchema) },
    errors: [409],
  }),
  cancelAgentJob: defineRoute({
    method: 'post',
    path: '/v2/agent/{projectId}/job/{id}/cancel',
    summary: 'Cancels an agent job.',
    description:
      'An active job fails immediately with the category cancelled and publishes nothing more. A job that has ended is returned unchanged; an archived one is refused.',
    role: 'member',
    params: ofJob,
    responses: { 200: json('The job.', agentJobSchema) },
    errors: [409],
  }),
  archiveAgentJob: defineRoute({
    method: 'post',
    path: '/v2/agent/{projectId}/job/{id}/archive',
    summary: 'Archives an agent job.',
    description:
      'A completed or failed job is archived and accepts no messages until it is unarchived; an active one is refused. Jobs are archived automatically 30 days after they end.',
    role: 'member',
    params: ofJob,
    responses: { 200: json('The job.', agentJobSchema) },
    errors: [409],
  }),
  unarchiveAgentJob: defineRoute({
    method: 'post',
    path: '/v2/agent/{projectId}/job/{id}/unarchive',
    summary: 'Unarchives an agent job.',
    description:
      'The job returns to its earlier status, completed or failed, and accepts messages. Refused after parts of a job that was archived long ago have been removed. A job that is not archived is returned unchanged.',
    role: 'member',
    params: ofJob,
    responses: { 200: json('The job.', agentJobSchema) },
    errors: [409],
  }),
};

export interface JobActionRouteDeps {
  admit: Admission;
  messagePolicy: RateLimitPolicy;
  messages: JobMessageStore;
  seesImages: (model: string) => boolean;
  endings: JobEndings;
  readJob: ReadJob;
  /** Called after a turn has been stored, so that its workflow starts at once. */
  onBegun: () => void;
  /** Called after a cancellation has been stored, so that the workflow is cancelled at once. */
  onCancelled: () => void;
}

const partRemoved = 'This job was archived long ago, and parts of it have been removed. Create a new job.';

const refusals: Record<Exclude<SentMessage, { job: unknown }>['kind'], () => ApiError> = {
  unknown: jobNotFound,
  archived: jobArchived,
  full: turnFull,
  conflict: () => idempotencyConflict('message'),
  outdated: turnOutdated,
  'unknown-turn': turnUnknown,
  unmergeable: baseNotMergeable,
};

export function createJobActionsRouter({ admit, messages, endings, readJob, ...deps }: JobActionRouteDeps): AppRouter {
  return mountRoutes(admit, jobActionRoutes, {
    async sendAgentJobMessage({ ctx, caller, params, headers, body }) {
      const job = await readJob(caller, params.projectId, params.id);
      const { prompt, images = [], mergeBase = false, turn } = await body();
      checkImages(images, job.model, deps.seesImages);
      const key = headers['Idempotency-Key'];
      const idempotency =
        key === undefined
          ? null
          : {
              key,
              requestHash: hashOfRequest([
                prompt,
                ...images.map((image) => refOf(image).hash),
                ...(turn === undefined ? [] : [turn]),
                ...(mergeBase ? ['mergeBase'] : []),
              ]),
            };
      const counter = { key: `message:${job.projectId}`, policy: deps.messagePolicy };
      const sent = await messages.send(caller, {
        jobId: job.id,
        prompt,
        images,
        mergeBase,
        turn,
        idempotency,
        counter,
      });
      if (!('job' in sent)) throw refusals[sent.kind]();
      if (sent.kind !== 'replayed' && sent.allowance !== null)
        ctx.set(rateLimitFields([{ ...counter, answer: sent.allowance }]));
      if (sent.kind === 'began') {
        ctx.state.turn = { jobId: sent.job.id, turn: sent.job.turn };
        deps.onBegun();
      }
      if (sent.kind === 'replayed') ctx.set('Idempotent-Replay', 'true');
      return presentJob(sent.job);
    },

    async cancelAgentJob({ caller, params }) {
      const job = await readJob(caller, params.projectId, params.id);
      const cancelled = await endings.cancel(caller, job.id);
      if (cancelled !== null) deps.onCancelled();
      const ended = cancelled ?? (await readJob(caller, params.projectId, params.id));
      if (ended.status === 'archived') throw jobArchived();
      return presentJob(ended);
    },

    async archiveAgentJob({ caller, params }) {
      const job = await readJob(caller, params.projectId, params.id);
      const archived = (await endings.archive(caller, job.id)) ?? (await readJob(caller, params.projectId, params.id));
      if (archived.status === 'active') throw jobActive();
      return presentJob(archived);
    },

    async unarchiveAgentJob({ caller, params }) {
      const job = await readJob(caller, params.projectId, params.id);
      const found = (await endings.unarchive(caller, job.id)) ?? (await readJob(caller, params.projectId, params.id));
      if (found.status === 'archived') throw new ApiError(409, partRemoved);
      return presentJob(found);
    },
  });
}
