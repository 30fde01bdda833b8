import { infiniteQueryOptions, queryOptions, type InfiniteData } from '@tanstack/react-query';
import { useCallback, useEffect, useRef } from 'react';
import { byCursor } from '../../http/all-pages.ts';
import { answerOf, api } from '../../http/client.ts';
import type { Connection, StreamEvent } from '../../http/event-stream.ts';
import { useSharedStream } from '../../http/shared-stream.ts';
import type { ListedJob } from '../../http/types.ts';
import { queryClient } from '../../queries.ts';
import { createdSince, type JobFilters } from './filters.ts';
import { withChanges, type JobListPage } from './with-changes.ts';

const pageSize = 100;
const listKey = 'jobs';

/** Returns the query for the organization's jobs that match the filters, newest first, one page at a time. */
export function jobListQuery(filters: JobFilters) {
  return infiniteQueryOptions({
    queryKey: [listKey, filters],
    ...byCursor,
    // the subscription keeps the data current while it is shown, and a later visit refetches it
    staleTime: Number.POSITIVE_INFINITY,
    // comparing thousands of jobs with the cached ones takes longer than rendering them
    structuralSharing: false,
    queryFn: ({ pageParam, signal }): Promise<JobListPage> => {
      const { status, age, ...others } = filters;
      return answerOf(
        api.GET('/v1/jobs', {
          params: {
            query: {
              ...others,
              state: status && [status],
              createdSince: age && createdSince(age),
              cursor: pageParam || undefined,
              limit: pageSize,
            },
          },
          signal,
        }),
      );
    },
  });
}

/** Returns the query for the number of jobs by state and failure; filters other than these are not counted. */
export function jobCountsQuery({ project, age }: Pick<JobFilters, 'project' | 'age'>) {
  return queryOptions({
    queryKey: [countsKey, project, age],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/v1/jobs/counts', {
          params: { query: { project, createdSince: age && createdSince(age) } },
          signal,
        }),
      ),
    placeholderData: (before) => before,
  });
}

const countsKey = 'job-counts';
const countAgainMs = 1_000;

/** Keeps the list and the counts current through one subscription. */
export function useLiveJobs(filters: JobFilters): Connection {
  const counting = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(counting.current), []);
  const changes = useRef<ListedJob[]>([]);
  const apply = useCallback(() => {
    const { queryKey } = jobListQuery(filters);
    // a list that is being fetched may be from before these changes, and would replace them
    if (changes.current.length === 0 || queryClient.isFetching({ queryKey, exact: true }) > 0) return;
    const jobs = changes.current;
    changes.current = [];
    queryClient.setQueryData<InfiniteData<JobListPage, string>>(queryKey, (data) =>
      data === undefined ? data : { ...data, pages: withChanges(data.pages, jobs, filters) },
    );
  }, [filters]);
  useEffect(() => queryClient.getQueryCache().subscribe(apply), [apply]);
  const take = useCallback(
    (events: StreamEvent[]) => {
      const jobs = events.flatMap(({ event, data }) => (event === 'job' ? [parseJob(data)] : []));
      if (jobs.length === 0) return;
      counting.current ??= setTimeout(() => {
        counting.current = undefined;
        void queryClient.invalidateQueries({ queryKey: [countsKey] });
      }, countAgainMs);
      // lists with other filters are fetched again when they are shown
      void queryClient.invalidateQueries({ queryKey: [listKey], type: 'inactive', refetchType: 'none' });
      // only the server can evaluate a text search
      if (filters.q !== undefined)
        return void queryClient.invalidateQueries({ queryKey: jobListQuery(filters).queryKey });
      changes.current.push(...jobs);
      apply();
    },
    [filters, apply],
  );
  const connection = useSharedStream('/v1/jobs/events', take);
  const wasLive = useRef(false);
  useEffect(() => {
    if (connection !== 'live') return;
    if (wasLive.current && queryClient.getQueryState(jobListQuery(filters).queryKey)?.status !== 'error') return;
    wasLive.current = true;
    // fetches changes between the first page and the subscription, and what failed while the server was away
    void queryClient.invalidateQueries({ queryKey: [listKey] });
  }, [connection, filters]);
  return connection;
}

/** Parses a job from the stream, which has the format of the list's route. */
function parseJob(data: string): ListedJob {
  return JSON.parse(data);
}
