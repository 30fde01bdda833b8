import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { Button } from 'react-aria-components';
import { ChangeSize } from '../components/change-size.tsx';
import { Loaded } from '../components/loaded.tsx';
import { NextPage } from '../components/next-page.tsx';
import { EmptyNote, Loading } from '../components/notes.tsx';
import { Only, useSession } from '../components/session.tsx';
import { PullRequestBadge } from '../components/status.tsx';
import { Ago } from '../components/time.tsx';
import { count } from '../format.ts';
import { answerOf, api } from '../http/client.ts';
import type { ListedJob } from '../http/types.ts';
import { headline, plain } from '../plain.ts';
import { pullViews, type PullView } from '../pull-requests/views.ts';
import { useTitle } from '../use-title.ts';
import '../styles/pull-request.css';

const refetchMs = 15_000;

/** Shows the pull requests of all jobs, those of the newest jobs first. */
export function PullRequestsPage() {
  const { state } = useSearch({ from: '/pulls' });
  const navigate = useNavigate();
  useTitle('Pull requests');
  const counts = useQuery({
    queryKey: ['pull-request-counts'],
    queryFn: () => answerOf(api.GET('/v1/jobs/pull-request-counts')),
    refetchInterval: refetchMs,
  });
  return (
    <>
      <div className="page-head">
        <h1>Pull requests</h1>
      </div>
      <div className="segments" role="group" aria-label="State">
        {[undefined, ...pullViews].map((view) => {
          const counted = counts.data?.counts.find((one) => one.state === view);
          return (
            <Button
              key={view ?? 'all'}
              className="segment"
              aria-pressed={state === view}
              onPress={() =>
                void navigate({ to: '/pulls', search: view === undefined ? {} : { state: view }, replace: true })
              }
            >
              {view ?? 'all'}
              {counted !== undefined && (
                <span className="segment-count">{` ${count(counted.count)}${counted.isLowerBound ? '+' : ''}`}</span>
              )}
            </Button>
          );
        })}
      </div>
      <PullRequestList state={state} />
    </>
  );
}

function PullRequestList({ state }: { state: PullView | undefined }) {
  const list = useInfiniteQuery({
    queryKey: ['pull-requests', state],
    initialPageParam: '',
    refetchInterval: refetchMs,
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET('/v1/jobs', {
          params: {
            query: { pullRequest: state ?? 'any', limit: 50, ...(pageParam === '' ? {} : { cursor: pageParam }) },
          },
        }),
      ),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const jobs = list.data?.pages.flatMap((page) => page.jobs) ?? [];
  // a page of a filtered list may hold no job although there are more
  const isLooking = list.hasNextPage && jobs.length === 0;
  const { isFetching, isError, fetchNextPage } = list;
  useEffect(() => {
    if (isLooking && !isFetching && !isError) void fetchNextPage();
  }, [isLooking, isFetching, isError, fetchNextPage]);
  return (
    <Loaded query={list} problem="Pull requests could not be loaded">
      {() => {
        if (isLooking) return <Loading />;
        if (jobs.length === 0)
          return (
            <EmptyNote title={`No ${state === undefined ? '' : `${state} `}pull requests`}>
              <p>A job that changes files opens one.</p>
              <Only role="member">
                <Link to="/new" className="button">
                  Create a job
                </Link>
              </Only>
            </EmptyNote>
          );
        return (
          <>
            <ul className="commits pulls" aria-label="Pull requests">
              {jobs.map((job) => (
                <PullRequestItem key={job.id} job={job} />
              ))}
            </ul>
            <NextPage list={list} label="Earlier" />
          </>
        );
      }}
    </Loaded>
  );
}

function PullRequestItem({ job }: { job: ListedJob }) {
  const { projects } = useSession();
  const { id, projectId, createdAt, details } = job;
  const { pullRequest } = details;
  if (pullRequest === null) return null;
  return (
    <li>
      <PullRequestBadge {...pullRequest} />
      <Link className="pull-title" to="/pulls/$id" params={pullRequest}>
        {headline(plain(details.title ?? job.prompt))}
        {pullRequest.number !== null && <span className="quiet"> #{pullRequest.number}</span>}
      </Link>
      <span className="quiet">{projects.find((project) => project.id === projectId)?.name ?? projectId}</span>
      <span className="pull-size">
        <ChangeSize {...job} />
      </span>
      <Link to="/jobs/$projectId/$id" params={{ projectId, id }}>
        Job
      </Link>
      <span className="quiet">
        <Ago date={createdAt} />
      </span>
    </li>
  );
}
