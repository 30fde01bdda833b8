import { useMutation, useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { Button } from 'react-aria-components';
import { answerOf, api, messageOf } from '../http/client.ts';
import type { PullRequest } from '../http/types.ts';
import { Markdown } from '../components/markdown.tsx';
import { ErrorNote, Loading } from '../components/notes.tsx';
import { PullRequestBadge } from '../components/status.tsx';
import { Ago } from '../components/time.tsx';
import { repositoryName } from '../format.ts';
import { plain } from '../plain.ts';
import { queryClient } from '../queries.ts';
import '../styles/job.css';

const DiffView = lazy(() => import('../diff/diff-view.tsx').then(({ DiffView }) => ({ default: DiffView })));

/** A pull request of the local forge. */
export function PullRequestPage() {
  const { id } = useParams({ from: '/pulls/$id' });
  const path = { id };
  const request = useQuery({
    queryKey: ['pull-request', id],
    queryFn: () => answerOf(api.GET('/v1/pull-requests/{id}', { params: { path } })),
    refetchInterval: ({ state }) => (state.data?.merge.isMerging === true ? 700 : false),
  });
  const diff = useQuery({
    queryKey: ['pull-request', id, 'diff'],
    queryFn: () => answerOf(api.GET('/v1/pull-requests/{id}/diff', { params: { path }, parseAs: 'text' })),
  });
  const title = request.data === undefined ? 'Pull request' : `${plain(request.data.title)} · #${request.data.number}`;
  useEffect(() => {
    document.title = `${title} · Docket`;
  }, [title]);
  if (request.isError)
    return <ErrorNote title="The pull request could not be read" message={messageOf(request.error)} />;
  if (request.isPending) return <Loading />;
  const { data } = request;
  return (
    <>
      <div className="page-head">
        <h1 className="job-title">
          {plain(data.title)} <span className="quiet">#{data.number}</span>
        </h1>
        <PullRequestBadge state={data.state === 'open' && data.draft ? 'draft' : data.state} />
      </div>
      <p>
        <code>{data.head}</code> into <code>{data.base}</code> of {repositoryName(data.repository)}, opened{' '}
        <Ago date={data.createdAt} /> by{' '}
        <Link to="/jobs/$projectId/$id" params={{ projectId: data.job.projectId, id: data.job.id }}>
          this job
        </Link>
      </p>
      <Actions request={data} />
      <section aria-label="Description" className="said">
        <Markdown text={withoutComments(data.body) || 'No description.'} />
      </section>
      <h2>Commits</h2>
      <ul className="commits">
        {data.commits.map(({ id, title, createdAt }) => (
          <li key={id}>
            <code>{id.slice(0, 10)}</code> <span className="words">{plain(title)}</span>{' '}
            <span className="quiet">
              <Ago date={createdAt} />
            </span>
          </li>
        ))}
      </ul>
      <h2 className="section-head">Changes</h2>
      {diff.isError && <ErrorNote title="The change could not be read" message={messageOf(diff.error)} />}
      {diff.data !== undefined && (
        <Suspense fallback={<Loading />}>
          <DiffView patch={diff.data} />
        </Suspense>
      )}
    </>
  );
}

/** Marks of the machine, which people do not read. */
function withoutComments(body: string): string {
  return body.replace(/<!--[\s\S]*?-->/g, '').trim();
}

type Act = 'merge' | 'close' | 'ready';

function Actions({ request }: { request: PullRequest }) {
  const { id, state, draft, merge, base } = request;
  const act = useMutation({
    mutationFn: (what: Act) => answerOf(api.POST(`/v1/pull-requests/{id}/${what}`, { params: { path: { id } } })),
    onSuccess: (changed) => queryClient.setQueryData(['pull-request', id], changed),
  });
  if (state === 'merged') {
    return (
      <p className="note">
        Merged into <code>{base}</code>
        {merge.commit !== null && (
          <>
            {' '}
            as <code>{merge.commit.slice(0, 10)}</code>
          </>
        )}
        .
      </p>
    );
  }
  if (state === 'closed') return <p className="note">Closed without being merged.</p>;
  const isBusy = act.isPending || merge.isMerging;
  return (
    <div className="note">
      <div className="actions">
        {draft ? (
          <Button className="button button-primary" isDisabled={isBusy} onPress={() => act.mutate('ready')}>
            Ready for review
          </Button>
        ) : (
          <Button className="button button-primary" isDisabled={isBusy} onPress={() => act.mutate('merge')}>
            {merge.isMerging ? 'Merging…' : 'Merge'}
          </Button>
        )}
        <Button className="button button-danger" isDisabled={isBusy} onPress={() => act.mutate('close')}>
          Close
        </Button>
        <Link
          className="button"
          to="/jobs/$projectId/$id"
          params={{ projectId: request.job.projectId, id: request.job.id }}
        >
          Ask for a change
        </Link>
      </div>
      {draft && <p className="hint">A draft is merged after somebody says that it is ready.</p>}
      {merge.problem !== null && (
        <p className="field-error" role="alert">
          Not merged: {merge.problem}
        </p>
      )}
      {act.isError && (
        <p className="field-error" role="alert">
          {messageOf(act.error)}
        </p>
      )}
    </div>
  );
}
