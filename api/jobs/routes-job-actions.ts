import type { Caller } from '../../db/caller.ts';
import type { JobEndings } from '../../db/jobs/job-endings.ts';
import type { JobMessageStore } from '../../db/jobs/job-messages.ts';
import type { JobRow } from '../../db/jobs/jobs.ts';
import type { RateLimitPolicy } from '../../db/operations/rate-limits.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import type { ApiError } from '../http/errors.ts';
import { idempotencyConflict, jobActive, jobArchived, jobNotFound, turnFull } from '../http/errors.ts';
import { hashOfRequest, idempotencyKeyOf } from '../http/idempotency-key.ts';
import type { ReadJob } from './job-reader.ts';
import { jobMessageSchema } from './job-schemas.ts';
import { readJsonBody } from '../http/json-body.ts';
import type { Authenticate } from '../access/authentication.ts';
import { rateLimitFields } from '../access/rate-limit-fields.ts';
import { presentJob } from '../../db/jobs/agent-job.ts';

export interface JobActionRouteDeps {
  authenticate: Authenticate;
  messagePolicy: RateLimitPolicy;
  messages: JobMessageStore;
  endings: JobEndings;
  readJob: ReadJob;
  /** Called after a turn was written, so that its workflow starts at once. */
  onBegun: () => void;
  /** Called after a cancel was written, so that the execution learns of it at once. */
  onCancelled: () => void;
}

// 100,000 characters of up to four bytes, and the rest of the body
const largestBodyBytes = 512 * 1024;

function refusalOf(kind: 'conflict' | 'archived' | 'unknown' | 'full'): ApiError {
  if (kind === 'full') return turnFull();
  if (kind === 'conflict') return idempotencyConflict('message');
  return kind === 'archived' ? jobArchived() : jobNotFound();
}

/** What a person does with a job that there is: say more, cancel it, archive it. */
export function createJobActionsRouter(deps: JobActionRouteDeps): AppRouter {
  const { messages, endings } = deps;
  const router = createRouter({ prefix: '/v2/agent/:projectId/job/:id' });

  async function jobOf(
    ctx: AppContext & { params: Record<string, string | undefined> },
  ): Promise<{ caller: Caller; job: JobRow }> {
    const caller = await deps.authenticate(ctx.req, 'admin');
    return { caller, job: await deps.readJob(caller, ctx.params['projectId'] ?? '', ctx.params['id'] ?? '') };
  }

  function answer(ctx: AppContext, job: JobRow): void {
    ctx.set('Cache-Control', 'no-store');
    ctx.body = presentJob(job);
  }

  router.post('/message', async (ctx) => {
    const { caller, job } = await jobOf(ctx);
    const key = idempotencyKeyOf(ctx.req.headers['idempotency-key']);
    const { prompt } = jobMessageSchema.parse(await readJsonBody(ctx.req, { maxBytes: largestBodyBytes }));
    const idempotency = key === null ? null : { key, requestHash: hashOfRequest([prompt]) };
    const counter = { key: `message:${job.projectId}`, policy: deps.messagePolicy };
    const sent = await messages.send(caller, { jobId: job.id, prompt, idempotency, counter });
    if (!('job' in sent)) throw refusalOf(sent.kind);
    if (sent.kind !== 'replayed' && sent.allowance !== null)
      ctx.set(rateLimitFields([{ ...counter, answer: sent.allowance }]));
    if (sent.kind === 'began') {
      ctx.state.turn = { jobId: sent.job.id, turn: sent.job.turn };
      deps.onBegun();
    }
    if (sent.kind === 'replayed') ctx.set('Idempotent-Replay', 'true');
    answer(ctx, sent.job);
  });

  router.post('/cancel', async (ctx) => {
    const { caller, job } = await jobOf(ctx);
    const cancelled = await endings.cancel(caller, job.id);
    if (cancelled !== null) deps.onCancelled();
    const ended = cancelled ?? (await jobOf(ctx)).job;
    if (ended.status === 'archived') throw jobArchived();
    answer(ctx, ended);
  });

  router.post('/archive', async (ctx) => {
    const { caller, job } = await jobOf(ctx);
    const archived = (await endings.archive(caller, job.id)) ?? (await jobOf(ctx)).job;
    if (archived.status === 'active') throw jobActive();
    answer(ctx, archived);
  });

  return router;
}
