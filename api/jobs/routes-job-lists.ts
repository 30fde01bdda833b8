import type { Logger } from 'pino';
import type { JobEventWakeups } from '../../db/jobs/job-event-wakeups.ts';
import type { JobListStore } from '../../db/jobs/job-lists.ts';
import type { AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import { draining } from '../http/errors.ts';
import { openEventStream } from '../http/event-stream.ts';
import { followJobChanges } from './follow-job-changes.ts';
import { jobChangesQuerySchema, jobListQuerySchema, changeWatcherHeadersSchema } from './job-list-schemas.ts';
import type { Authenticate } from '../access/authentication.ts';
import { pageOf } from '../http/page-of.ts';
import { presentListedJob } from './present-listed-job.ts';
import type { TakeStreamSlot } from '../access/stream-slots.ts';

export interface JobListRouteDeps {
  authenticate: Authenticate;
  takeStreamSlot: TakeStreamSlot;
  lists: JobListStore;
  wakeups: JobEventWakeups;
  /** Aborted when the process is about to go: its watchers go on at another one. */
  stopping: AbortSignal;
  log: Logger;
}

const times = { keepAliveMs: 10_000, lookEveryMs: 2_000, restMs: 250 };

/** The jobs of an organization, whatever their project, and a stream that keeps a list of them up to date. */
export function createJobListsRouter({
  authenticate,
  takeStreamSlot,
  lists,
  wakeups,
  stopping,
  log,
}: JobListRouteDeps): AppRouter {
  const router = createRouter();

  router.get('/v1/jobs', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    const { status, project, q, limit, cursor } = jobListQuerySchema.parse({ ...ctx.query });
    const query = { statuses: status, projectId: project, search: q || undefined, limit, cursor };
    const { jobs, nextCursor } = await pageOf(() => lists.list(caller, query));
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { jobs: jobs.map(presentListedJob), nextCursor };
  });

  router.get('/v1/jobs/events', async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    const { project: projectId } = jobChangesQuerySchema.parse({ ...ctx.query });
    const { 'Last-Event-ID': lastChange } = changeWatcherHeadersSchema.parse({
      'Last-Event-ID': ctx.get('Last-Event-ID'),
    });
    if (stopping.aborted) throw draining();
    using _slot = takeStreamSlot(caller.organizationId);
    using bell = wakeups.subscribeAll();
    const afterMicros = lastChange ?? (await lists.nowMicros());
    if (ctx.method === 'HEAD') {
      ctx.type = 'text/event-stream';
      ctx.status = 200;
      return;
    }
    const output = openEventStream(ctx, times);
    // at once, so that a list that is asked for now misses nothing
    output.write(`id: ${afterMicros}\nevent: start\ndata: {}\n\n`);
    try {
      await followJobChanges({ owner: caller, projectId, afterMicros, lists, bell, output, stopping, ...times });
    } catch (error) {
      log.warn({ err: error }, 'changes of jobs could not be followed');
      ctx.res.destroy();
    }
  });

  return router;
}
