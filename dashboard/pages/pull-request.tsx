import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { Loaded } from '../components/loaded.tsx';
import { Markdown } from '../components/markdown.tsx';
import { Loading } from '../components/notes.tsx';
import { PullRequestBadge } from '../components/status.tsx';
import { Ago } from '../components/time.tsx';
import { repositoryName } from '../format.ts';
import { answerOf, api } from '../http/client.ts';
import type { JobPullRequest, PullRequest } from '../http/types.ts';
import { pullRequestsQuery } from '../jobs/job-queries.ts';
import { plain } from '../plain.ts';
import { forgeNames, MergeBox } from '../pull-requests/merge-box.tsx';
import { useTitle } from '../use-title.ts';
import '../styles/job.css';
import '../styles/pull-request.css';

const ReviewedDiff = lazy(() =>
  import('../diff/reviewed-diff.tsx').then(({ ReviewedDiff }) => ({ default: ReviewedDiff })),
);

/** Shows a pull request of a job. */
export function PullRequestPage() {
  const { id } = useParams({ from: '/pulls/$id' });
  const request = useQuery({
    queryKey: ['pull-request', id],
    queryFn: () => answerOf(api.GET('/v1/pull-requests/{id}', { params: { path: { id } } })),
    refetchInterval: ({ state: { data } }) => {
      if (data?.merge.isMerging === true || data?.merge.isChecking === true) return 700;
      return data?.state === 'open' ? 5_000 : false;
    },
  });
  const title = request.data === undefined ? 'Pull request' : `${plain(request.data.title)} · #${request.data.number}`;
  useTitle(title);
  return (
    <Loaded
      query={request}
      problem="The pull request could not be loaded"
      back={
        <Link to="/pulls" className="button">
          All pull requests
        </Link>
      }
    >
      {(data) => <Shown key={data.id} request={data} />}
    </Loaded>
  );
}

function Shown({ request }: { request: PullRequest }) {
  const ofJob = useQuery(pullRequestsQuery(request.job, request));
  const { number, state, draft, forge, link, head, base, repository, createdAt, body, commits, job } = request;
  if (ofJob.isPending) return <Loading lines={8} />;
  return (
    <>
      <div className="pull-head">
        <h1 className="job-title">
          {plain(request.title)} <span className="quiet">#{number}</span>
        </h1>
        <p className="pull-facts">
          <PullRequestBadge state={state} draft={draft} />
          <span>
            <code className="branch">{head}</code> into <code className="branch">{base}</code> of{' '}
            {repositoryName(repository)}
          </span>
          <span>
            opened <Ago date={createdAt} /> by{' '}
            <Link to="/jobs/$projectId/$id" params={{ projectId: job.projectId, id: job.id }}>
              this job
            </Link>
          </span>
          {forge !== 'local' && link !== null && <a href={link}>Open on {forgeNames[forge]} ↗</a>}
        </p>
      </div>
      <section aria-label="Description" className="said">
        <Markdown text={withoutComments(body) || 'No description.'} />
      </section>
      <MergeBox pull={request} />
      <OfSameJob request={request} pulls={ofJob.data ?? []} />
      <h2 className="section-head">
        Commits <span className="badge">{commits.length}</span>
      </h2>
      <ul className="commits">
        {commits.map(({ id, title, createdAt }) => (
          <li key={id}>
            <span className="words">{plain(title)}</span>
            <code className="quiet">{id.slice(0, 10)}</code>
            <span className="quiet">
              <Ago date={createdAt} />
            </span>
          </li>
        ))}
      </ul>
      <h2 className="section-head">Changes</h2>
      <Changes request={request} />
    </>
  );
}

/** Shows all pull requests of a job that has several. */
function OfSameJob({ request, pulls }: { request: PullRequest; pulls: JobPullRequest[] }) {
  if (pulls.length < 2) return null;
  return (
    <>
      <h2 className="section-head" id="of-same-job">
        Pull requests of this job <span className="badge">{pulls.length}</span>
      </h2>
      <ul className="commits" aria-labelledby="of-same-job">
        {pulls.map(({ id, number, title, turn, state, draft, createdAt }) => (
          <li key={id}>
            <PullRequestBadge state={state} draft={draft} />
            <Link
              className="pull-title words"
              to="/pulls/$id"
              params={{ id }}
              aria-current={id === request.id ? 'page' : undefined}
            >
              {plain(title)} <span className="quiet">#{number}</span>
            </Link>
            <span className="quiet">Turn {turn}</span>
            <span className="quiet">
              <Ago date={createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Shows the diff between the base and the branch at its last commit. */
function Changes({ request: { id, number, headCommit, job, isNewest } }: { request: PullRequest }) {
  const diff = useQuery({
    queryKey: ['pull-request', id, 'diff', headCommit ?? ''],
    queryFn: () => answerOf(api.GET('/v1/pull-requests/{id}/diff', { params: { path: { id } }, parseAs: 'text' })),
  });
  return (
    <Loaded query={diff} problem="The diff could not be loaded">
      {(patch) => (
        <Suspense fallback={<Loading />}>
          <ReviewedDiff job={job} patch={patch} earlier={isNewest ? null : { id, number }} />
        </Suspense>
      )}
    </Loaded>
  );
}

/** Removes HTML comments, which are markers for machines. */
function withoutComments(body: string): string {
  return body.replace(/<!--.*?(?:-->|$)/gs, '').trim();
}
