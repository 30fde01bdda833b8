import type { Logger } from 'pino';
import type { JobEventWakeups } from '../../db/jobs/job-event-wakeups.ts';
import type { JobListStore } from '../../db/jobs/job-lists.ts';
import type { JobCountStore } from '../../db/jobs/job-states.ts';
import type { AppRouter } from '../http/app-context.ts';
import { z } from 'zod';
import { defineRoute, json } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { draining } from '../http/errors.ts';
import { openEventStream, serverSentEvent } from '../http/streams/event-stream.ts';
import { failureOf } from '../../workflows/contract/failures.ts';
import { createJobChangeFeed } from './job-change-feed.ts';
import {
  jobChangesQuerySchema,
  jobCountsQuerySchema,
  jobCountsSchema,
  jobListQuerySchema,
  lastChangeId,
  listedJobsSchema,
} from './job-list-schemas.ts';
import type { Admission } from '../access/request-access.ts';
import { pageOf } from '../http/page-of.ts';
import { presentListedJob } from './present-listed-job.ts';
import type { AcquireStreamSlot } from '../access/stream-slots.ts';

export const jobListRoutes = {
  listJobs: defineRoute({
    method: 'get',
    path: '/v1/jobs',
    summary: 'Lists the jobs of the organization, newest first.',
    description:
      'With search, state, model, failure, pullRequest or startedBy, a page may have fewer jobs than its limit, or none, and still have a nextCursor.',
    query: jobListQuerySchema,
    responses: { 200: json('A page of jobs.', listedJobsSchema) },
  }),
  countJobs: defineRoute({
    method: 'get',
    path: '/v1/jobs/counts',
    summary: 'Counts the jobs of the organization by state, and the failed ones by category.',
    description: 'Counts up to 1,000 jobs of each status, the newest first.',
    query: jobCountsQuerySchema,
    responses: { 200: json('The counts.', jobCountsSchema) },
  }),
  followJobs: defineRoute({
    method: 'get',
    path: '/v1/jobs/events',
    summary: 'Streams changes to the jobs of the organization.',
    description:
      'Sends {id, event: job, data: a job as in the list} for each job that is created or changes; only the latest state is sent. The stream has no end. A list requested after the first event (start) misses nothing.',
    query: jobChangesQuerySchema,
    headers: { 'Last-Event-ID': lastChangeId },
    responses: { 200: { description: 'The stream.', content: { 'text/event-stream': z.string() } } },
  }),
};

export interface JobListRouteDeps {
  admit: Admission;
  acquireStreamSlot: AcquireStreamSlot;
  lists: JobListStore;
  jobCounts: JobCountStore;
  wakeups: JobEventWakeups;
  /** Aborts when the process shuts down. Clients then reconnect to another process. */
  stopping: AbortSignal;
  log: Logger;
}

const keepAliveMs = 10_000;

export function createJobListsRouter(deps: JobListRouteDeps): AppRouter {
  const { admit, acquireStreamSlot, lists, jobCounts, stopping, log } = deps;
  const feed = createJobChangeFeed(deps);

  return mountRoutes(admit, jobListRoutes, {
    async listJobs({ caller, query: { status, state, project, q, ...others } }) {
      const query = { ...others, statuses: status, states: state, projectId: project, search: q || undefined };
      const { jobs, nextCursor } = await pageOf(() => lists.list(caller, query));
      return { jobs: jobs.map(presentListedJob), nextCursor };
    },

    async countJobs({ caller, query: { project: projectId, createdSince } }) {
      const { states, failures } = await jobCounts.count(caller, { projectId, createdSince });
      const titled = failures.map((counted) => ({ ...counted, title: failureOf(counted.category).title }));
      return { counts: states, failures: titled };
    },

    async followJobs({ ctx, caller, query: { project: projectId }, headers }) {
      if (stopping.aborted) throw draining();
      using _slot = acquireStreamSlot(caller.organizationId);
      const afterMicros = headers['Last-Event-ID'] ?? (await lists.nowMicros());
      if (ctx.method === 'HEAD') {
        ctx.type = 'text/event-stream';
        ctx.status = 200;
        return;
      }
      const output = openEventStream(ctx, { keepAliveMs });
      // sent at once: a list requested after this event misses nothing
      output.write(serverSentEvent({ id: afterMicros, type: 'start', data: {} }));
      try {
        const signal = AbortSignal.any([output.gone, stopping]);
        for await (const text of feed.watch({ owner: caller, projectId }, { afterMicros, signal })) {
          output.write(text);
          const blocked = output.blocked();
          if (blocked !== null) await blocked;
        }
        await output.end();
      } catch (error) {
        log.warn({ err: error }, 'streaming changes of jobs failed');
        ctx.res.destroy();
      }
    },
  });
}
