import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { ChangeSize } from '../components/change-size.tsx';
import { Loaded } from '../components/loaded.tsx';
import { NextPage } from '../components/next-page.tsx';
import { EmptyNote, Loading } from '../components/notes.tsx';
import { Only, useSession } from '../components/session.tsx';
import { PullRequestBadge } from '../components/status.tsx';
import { Ago } from '../components/time.tsx';
import { count } from '../format.ts';
import { byCursor, pageEvery } from '../http/all-pages.ts';
import { answerOf, api } from '../http/client.ts';
import type { ListedPullRequest } from '../http/types.ts';
import { headline, plain } from '../plain.ts';
import { pullViews, type PullView } from '../pull-requests/views.ts';
import { useTitle } from '../use-title.ts';
import '../styles/pull-request.css';

const refetchMs = 15_000;

/** Shows all pull requests of all jobs, newest first. */
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
      {counts.isPending ? (
        <Loading lines={8} />
      ) : (
        <>
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
      )}
    </>
  );
}

function PullRequestList({ state }: { state: PullView | undefined }) {
  const list = useInfiniteQuery({
    queryKey: ['pull-requests', state],
    ...byCursor,
    refetchInterval: pageEvery(refetchMs),
    queryFn: ({ pageParam }) =>
      answerOf(
        api.GET('/v1/pull-requests', { params: { query: { limit: 50, state, cursor: pageParam || undefined } } }),
      ),
  });
  return (
    <Loaded query={list} problem="Pull requests could not be loaded">
      {({ pages }) => {
        const pullRequests = pages.flatMap((page) => page.pullRequests);
        if (pullRequests.length === 0)
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
              {pullRequests.map((pullRequest) => (
                <PullRequestItem key={pullRequest.id} pullRequest={pullRequest} />
              ))}
            </ul>
            <NextPage list={list} label="Earlier" />
          </>
        );
      }}
    </Loaded>
  );
}

function PullRequestItem({ pullRequest }: { pullRequest: ListedPullRequest }) {
  const { projects } = useSession();
  const { id, number, title, turn, createdAt, job } = pullRequest;
  return (
    <li>
      <PullRequestBadge {...pullRequest} />
      <Link className="pull-title" to="/pulls/$id" params={{ id }}>
        {headline(plain(title))} <span className="quiet">#{number}</span>
      </Link>
      <span className="quiet">{projects.find((project) => project.id === job.projectId)?.name ?? job.projectId}</span>
      <span className="pull-size">
        <ChangeSize {...pullRequest} />
      </span>
      <span>
        <Link to="/jobs/$projectId/$id" params={job}>
          Job
        </Link>
        <span className="quiet">, turn {turn}</span>
      </span>
      <span className="quiet">
        <Ago date={createdAt} />
      </span>
    </li>
  );
}
