import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo } from 'react';
import { messageOf } from '../http/client.ts';
import type { Connection } from '../http/event-stream.ts';
import { EmptyNote, ErrorNote, Loading } from '../components/notes.tsx';
import { Only, useSession } from '../components/session.tsx';
import { Bulk } from '../jobs/list/bulk.tsx';
import { FirstSteps, useFirstSteps } from '../jobs/first-steps.tsx';
import type { JobFilters } from '../jobs/list/filters.ts';
import { Filters, useSetFilters } from '../jobs/list/job-filters.tsx';
import { jobCountsQuery, jobListQuery, useLiveJobs } from '../jobs/list/job-list.ts';
import { NoWorker, useQueueProblem } from '../jobs/no-worker.tsx';
import { JobRows } from '../jobs/list/job-rows.tsx';
import { useSelection } from '../jobs/list/selection.ts';
import { LiveDot } from '../components/live-dot.tsx';
import { useLatch } from '../use-latch.ts';
import { useTitle } from '../use-title.ts';

/** Shows all jobs of the organization, live. The filters are in the address. */
export function JobsPage() {
  const filters = useSearch({ from: '/jobs' });
  const { defaults } = useSession();
  const set = useSetFilters();
  const list = useInfiniteQuery(jobListQuery(filters));
  const connection = useLiveJobs(filters);
  const jobs = useMemo(() => list.data?.pages.flatMap((page) => page.jobs) ?? [], [list.data]);
  const models = useMemo(
    () => [...new Set([filters.model ?? defaults.agentModel, ...jobs.map(({ model }) => model)])].sort(),
    [jobs, filters.model, defaults.agentModel],
  );
  const people = useMemo(() => {
    const names = [filters.startedBy, ...jobs.map(({ startedBy }) => startedBy?.name)];
    return [...new Set(names.filter((name) => typeof name === 'string'))].sort();
  }, [jobs, filters.startedBy]);
  const failures = useMemo(() => {
    const titles = new Map(filters.failure === undefined ? [] : [[filters.failure, filters.failure]]);
    for (const { failure } of jobs.map(({ details }) => details))
      if (failure !== null && failure.category !== 'cancelled') titles.set(failure.category, failure.title);
    return titles;
  }, [jobs, filters.failure]);
  const selection = useSelection(filters);
  // a page of a filtered list may hold no job although there are more
  const isSearching = list.hasNextPage && jobs.length === 0;
  const { isFetching, isError, fetchNextPage } = list;
  const isFiltered = Object.keys(filters).length > 0;
  const isEmpty = list.isSuccess && jobs.length === 0 && !list.hasNextPage;
  useEffect(() => {
    if (isSearching && !isFetching && !isError) void fetchNextPage();
  }, [isSearching, isFetching, isError, fetchNextPage]);
  const firstSteps = useFirstSteps(list.isSuccess && !isFiltered && !list.hasNextPage ? jobs : null);
  const problem = useQueueProblem(jobs.some(({ details }) => details.phase === 'queued'));
  const counts = useQuery(jobCountsQuery(filters));
  const isComplete = useLatch(
    !list.isPending && !counts.isPending && problem !== undefined && firstSteps?.isPending !== true,
  );
  useTitle('Jobs');
  if (!isComplete) {
    return (
      <>
        <PageHead connection={connection} />
        <Loading lines={12} />
      </>
    );
  }
  return (
    <>
      <PageHead connection={connection} />
      {firstSteps !== null && <FirstSteps {...firstSteps} />}
      {isEmpty && !isFiltered && firstSteps === null && <NoJobs filters={filters} />}
      {(isFiltered || !isEmpty) && <Filters filters={filters} models={models} people={people} failures={failures} />}
      <NoWorker problem={problem ?? null} />
      {isError && (
        <ErrorNote
          title="Jobs could not be loaded"
          message={messageOf(list.error)}
          onRetry={() => void (list.isFetchNextPageError ? fetchNextPage() : list.refetch())}
        />
      )}
      {(list.isPending || (isSearching && !isError)) && <Loading lines={12} />}
      {isEmpty && isFiltered && <NoJobs filters={filters} />}
      {jobs.length > 0 && (
        <JobRows
          jobs={jobs}
          hasMore={list.hasNextPage}
          mayAsk={!isFetching && !isError}
          onMore={() => void fetchNextPage()}
          order={filters.order ?? 'newest'}
          onOrder={(order) => set({ order: order === 'oldest' ? order : undefined })}
          selection={selection}
        />
      )}
      <Bulk jobs={jobs} selection={selection} />
    </>
  );
}

function PageHead({ connection }: { connection: Connection }) {
  return (
    <div className="page-head">
      <h1>Jobs</h1>
      <LiveDot connection={connection} />
    </div>
  );
}

function NoJobs({ filters }: { filters: JobFilters }) {
  if (Object.keys(filters).length > 0) {
    return (
      <EmptyNote title="No jobs match these filters">
        <Link to="/jobs" className="button">
          Show all jobs
        </Link>
      </EmptyNote>
    );
  }
  return (
    <EmptyNote title="No jobs yet">
      <p>Describe a change to a repository. An agent makes it and opens a pull request.</p>
      <Only role="member">
        <Link to="/new" className="button button-primary">
          Create the first job
        </Link>
      </Only>
    </EmptyNote>
  );
}
