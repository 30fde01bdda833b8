import type { Logger } from 'pino';
import type { Owner } from '../../db/caller.ts';
import type { JobEventWakeups } from '../../db/jobs/job-event-wakeups.ts';
import type { JobEventStore } from '../../db/jobs/job-events.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import { draining } from '../http/errors.ts';
import { openEventStream } from '../http/event-stream.ts';
import { followJobEvents } from './follow-job-events.ts';
import type { ReadJob } from './job-reader.ts';
import { eventsQuerySchema, watcherHeadersSchema } from './job-schemas.ts';
import type { Authenticate } from '../access/authentication.ts';
import { presentJobEvent } from './present-job-event.ts';
import type { TakeStreamSlot } from '../access/stream-slots.ts';

export interface JobEventRouteDeps {
  authenticate: Authenticate;
  takeStreamSlot: TakeStreamSlot;
  readJob: ReadJob;
  events: Pick<JobEventStore, 'read'>;
  wakeups: JobEventWakeups;
  /** Aborted when the process is about to go: its watchers go on at another one. */
  stopping: AbortSignal;
  log: Logger;
  times?: Partial<typeof defaultTimes>;
}

interface Watched {
  owner: Owner;
  jobId: string;
  /** The number of the last event that the watcher has. */
  after: number;
}

const defaultTimes = {
  keepAliveMs: 10_000,
  lookEveryMs: 10_000,
};

/** `GET …/job/{id}/events`: what happened to a job, as a live stream or as pages. */
export function createJobEventsRouter(deps: JobEventRouteDeps): AppRouter {
  const router = createRouter({ prefix: '/v2/agent/:projectId' });

  router.get('/job/:id/events', async (ctx) => {
    const caller = await deps.authenticate(ctx.req, 'admin');
    const { id } = await deps.readJob(caller, ctx.params['projectId'] ?? '', ctx.params['id'] ?? '');
    const { after, limit } = eventsQuerySchema.parse({ ...ctx.query });
    ctx.set('Cache-Control', 'no-store');
    ctx.set('Vary', 'Accept');
    const isStream =
      ctx.method === 'GET' && ctx.accepts('application/json', 'text/event-stream') === 'text/event-stream';
    if (isStream) {
      using _slot = deps.takeStreamSlot(caller.organizationId);
      return await stream(deps, ctx, { owner: caller, jobId: id, after });
    }
    const { events } = await deps.events.read(caller, id, { after, limit });
    ctx.body = { events: events.map(presentJobEvent), nextAfter: events.at(-1)?.seq ?? after };
  });

  return router;
}

async function stream(deps: JobEventRouteDeps, ctx: AppContext, { owner, jobId, after }: Watched): Promise<void> {
  const { events, wakeups, stopping, log } = deps;
  const times = { ...defaultTimes, ...deps.times };
  const { 'Last-Event-ID': header } = watcherHeadersSchema.parse({ 'Last-Event-ID': ctx.get('Last-Event-ID') });
  if (stopping.aborted) throw draining();
  using bell = wakeups.subscribe(jobId);
  // a watcher that comes back to a job that has said everything is told to stay away
  const isOver = header !== null && (await hasEnded(events, { owner, jobId, after: header }));
  if (isOver) {
    ctx.status = 204;
    return;
  }
  const output = openEventStream(ctx, times);
  try {
    const { lookEveryMs } = times;
    await followJobEvents({ owner, jobId, after: header ?? after, events, bell, output, stopping, lookEveryMs });
  } catch (error) {
    log.warn({ err: error, jobId }, 'events of a job could not be followed');
    ctx.res.destroy();
  }
}

async function hasEnded(events: Pick<JobEventStore, 'read'>, { owner, jobId, after }: Watched): Promise<boolean> {
  const page = await events.read(owner, jobId, { after, limit: 1 });
  return page.events.length === 0 && page.status !== 'active';
}
