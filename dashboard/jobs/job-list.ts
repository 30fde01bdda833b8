import { infiniteQueryOptions, type InfiniteData } from '@tanstack/react-query';
import { useCallback } from 'react';
import { answerOf, api } from '../http/client.ts';
import { useStream, type Connection, type StreamEvent } from '../http/follow.ts';
import type { ListedJob } from '../http/types.ts';
import { queryClient } from '../queries.ts';
import type { JobFilters } from './filters.ts';

interface Page {
  jobs: ListedJob[];
  nextCursor: string | null;
}

const pageSize = 100;

/** The jobs of the organization that fit the filters, newest first, a page at a time. */
export function jobListQuery(filters: JobFilters) {
  return infiniteQueryOptions({
    queryKey: ['jobs', filters],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }): Promise<Page> => {
      const { status, ...others } = filters;
      return answerOf(
        api.GET('/v1/jobs', {
          params: {
            query: {
              ...others,
              ...(status === undefined ? {} : { status: [status] }),
              ...(pageParam === '' ? {} : { cursor: pageParam }),
              limit: pageSize,
            },
          },
          signal,
        }),
      );
    },
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });
}

function fits(job: ListedJob, { status, project }: JobFilters): boolean {
  return (status === undefined || job.status === status) && (project === undefined || job.projectId === project);
}

/** Puts changed jobs where they stand, new ones in front, and takes out what fits no more. */
export function withChanges(pages: Page[], changes: ListedJob[], filters: JobFilters): Page[] {
  const changed = new Map(changes.map((job) => [job.id, job]));
  const known = new Set<string>();
  const updated = pages.map((page) => ({
    ...page,
    jobs: page.jobs.flatMap((job) => {
      known.add(job.id);
      const now = changed.get(job.id) ?? job;
      return fits(now, filters) ? [now] : [];
    }),
  }));
  const newest = updated[0]?.jobs[0]?.createdAt ?? '';
  const fresh = [...changed.values()]
    .filter((job) => !known.has(job.id) && fits(job, filters) && job.createdAt >= newest)
    .sort((one, other) => other.createdAt.localeCompare(one.createdAt));
  const [first, ...rest] = updated;
  return first === undefined ? updated : [{ ...first, jobs: [...fresh, ...first.jobs] }, ...rest];
}

/** Keeps the list as it is now, by one subscription. */
export function useLiveJobs(filters: JobFilters): Connection {
  const take = useCallback(
    (events: StreamEvent[]) => {
      const jobs = events.flatMap(({ event, data }) => (event === 'job' ? [parseJob(data)] : []));
      if (jobs.length === 0) return;
      const { queryKey } = jobListQuery(filters);
      // what is searched for is for the server to say
      if (filters.q !== undefined) return void queryClient.invalidateQueries({ queryKey });
      queryClient.setQueryData<InfiniteData<Page, string>>(queryKey, (data) =>
        data === undefined ? data : { ...data, pages: withChanges(data.pages, jobs, filters) },
      );
    },
    [filters],
  );
  return useStream('/v1/jobs/events', take);
}

/** The stream carries what the list's route answers. */
function parseJob(data: string): ListedJob {
  return JSON.parse(data);
}
