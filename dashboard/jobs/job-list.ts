import { infiniteQueryOptions, type InfiniteData } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { answerOf, api } from '../http/client.ts';
import { useStream, type Connection, type StreamEvent } from '../http/event-stream.ts';
import type { ListedJob } from '../http/types.ts';
import { queryClient } from '../queries.ts';
import type { JobFilters } from './filters.ts';
import { withChanges, type JobListPage } from './with-changes.ts';

const pageSize = 100;

/** The jobs of the organization that fit the filters, newest first, a page at a time. */
export function jobListQuery(filters: JobFilters) {
  return infiniteQueryOptions({
    queryKey: ['jobs', filters],
    initialPageParam: '',
    // the subscription keeps it as it is now while it is shown; whoever comes back begins at the top
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    // comparing thousands of jobs with what is known takes longer than showing them
    structuralSharing: false,
    queryFn: ({ pageParam, signal }): Promise<JobListPage> => {
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

/** Keeps the list as it is now, by one subscription. */
export function useLiveJobs(filters: JobFilters): Connection {
  const take = useCallback(
    (events: StreamEvent[]) => {
      const jobs = events.flatMap(({ event, data }) => (event === 'job' ? [parseJob(data)] : []));
      if (jobs.length === 0) return;
      const { queryKey } = jobListQuery(filters);
      // what is searched for is for the server to say
      if (filters.q !== undefined) return void queryClient.invalidateQueries({ queryKey });
      queryClient.setQueryData<InfiniteData<JobListPage, string>>(queryKey, (data) =>
        data === undefined ? data : { ...data, pages: withChanges(data.pages, jobs, filters) },
      );
    },
    [filters],
  );
  const connection = useStream('/v1/jobs/events', take);
  const wasLive = useRef(false);
  useEffect(() => {
    if (connection !== 'live' || wasLive.current) return;
    wasLive.current = true;
    // what happened between the first page and the subscription
    void queryClient.invalidateQueries({ queryKey: jobListQuery(filters).queryKey });
  }, [connection, filters]);
  return connection;
}

/** The stream carries what the list's route answers. */
function parseJob(data: string): ListedJob {
  return JSON.parse(data);
}
