import type { Logger } from 'pino';
import type { Owner } from '../../db/caller.ts';
import type { JobEventWakeups } from '../../db/jobs/job-event-wakeups.ts';
import type { JobEventStore } from '../../db/jobs/job-events.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { draining } from '../http/errors.ts';
import { openEventStream } from '../http/streams/event-stream.ts';
import { createJobEventFeed, type JobEventFeed, type JobEventReader } from './job-event-feed.ts';
import type { ReadJob } from './job-reader.ts';
import { eventsQuerySchema, jobEventPageSchema, lastEventId, ofJob } from './job-schemas.ts';
import type { Admission } from '../access/request-access.ts';
import { defineRoute } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { z } from 'zod';
import { presentJobEvent } from './present-job-event.ts';
import type { AcquireStreamSlot } from '../access/stream-slots.ts';
import type { StreamOutput } from '../http/streams/stream-output.ts';

export const jobEventRoutes = {
  getAgentJobEvents: defineRoute({
    method: 'get',
    path: '/v2/agent/{projectId}/job/{id}/events',
    summary: 'Returns the events of a job as pages or as a live stream.',
    params: ofJob,
    query: eventsQuerySchema,
    headers: { 'Last-Event-ID': lastEventId },
    responses: {
      200: {
        description:
          'A page; or, with Accept: text/event-stream, each event as {id: seq, event: type, data: the event as JSON} until the job ends.',
        content: { 'application/json': jobEventPageSchema, 'text/event-stream': z.string() },
      },
      204: { description: 'A resumed stream has no further events: the job has ended.' },
    },
  }),
};

export interface JobEventRouteDeps {
  admit: Admission;
  acquireStreamSlot: AcquireStreamSlot;
  readJob: ReadJob;
  events: Pick<JobEventStore, 'read'>;
  wakeups: JobEventWakeups;
  /** Aborts when the process shuts down. Clients then reconnect to another process. */
  stopping: AbortSignal;
  log: Logger;
}

interface Watched {
  owner: Owner;
  jobId: string;
  /** Number of the last event the client has received. */
  after: number;
  /** Last-Event-ID of a reconnecting client; null on the first connection. */
  lastEventId: number | null;
}

const keepAliveMs = 10_000;

export function createJobEventsRouter(deps: JobEventRouteDeps): AppRouter {
  const feed = createJobEventFeed(deps);
  return mountRoutes(deps.admit, jobEventRoutes, {
    async getAgentJobEvents({ ctx, caller, params, query: { after, limit }, headers }) {
      const { id } = await deps.readJob(caller, params.projectId, params.id);
      ctx.vary('Accept');
      const isStream =
        ctx.method === 'GET' && ctx.accepts('application/json', 'text/event-stream') === 'text/event-stream';
      if (isStream) {
        using _slot = deps.acquireStreamSlot(caller.organizationId);
        return await stream({ ...deps, feed }, ctx, {
          owner: caller,
          jobId: id,
          after,
          lastEventId: headers['Last-Event-ID'],
        });
      }
      const { events } = await deps.events.read(caller, id, { after, limit });
      return { events: events.map(presentJobEvent), nextAfter: events.at(-1)?.seq ?? after };
    },
  });
}

async function stream(
  { feed, stopping, log }: Pick<JobEventRouteDeps, 'stopping' | 'log'> & { feed: JobEventFeed },
  ctx: AppContext,
  { owner, jobId, after, lastEventId }: Watched,
): Promise<void> {
  if (stopping.aborted) throw draining();
  using reader = feed.watch(owner, jobId);
  // 204 stops a client from reconnecting to a job that has no further events
  if (lastEventId !== null) {
    const { text, status } = await reader.read(lastEventId);
    if (text === '' && status !== 'active') {
      ctx.status = 204;
      return;
    }
  }
  const output = openEventStream(ctx, { keepAliveMs });
  try {
    await streamJobEvents({ reader, after: lastEventId ?? after, output, stopping });
  } catch (error) {
    log.warn({ err: error, jobId }, 'streaming the events of a job failed');
    ctx.res.destroy();
  }
}

interface StreamJobEventsOptions {
  reader: JobEventReader;
  /** Number of the last event the client has received. */
  after: number;
  output: StreamOutput;
  /** Ends the stream between two events. */
  stopping: AbortSignal;
}

/** Sends a job's events as they are appended, once each and in order, until the job is no longer active. */
async function streamJobEvents({ reader, after, output, stopping }: StreamJobEventsOptions): Promise<void> {
  const signal = AbortSignal.any([output.gone, stopping]);
  for (let last = after; !signal.aborted;) {
    const page = await reader.read(last);
    ({ last } = page);
    output.write(page.text);
    const blocked = output.blocked();
    if (blocked !== null) await blocked;
    if (page.isFull) continue;
    if (page.status !== 'active') break;
    await reader.changed(signal);
  }
  await output.end();
}
