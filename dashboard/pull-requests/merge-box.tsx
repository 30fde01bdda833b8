import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { Problem } from '../components/fields.tsx';
import { answerOf, api } from '../http/client.ts';
import type { PullRequest } from '../http/types.ts';
import { followUpAnchor } from '../jobs/send-message.ts';
import { queryClient } from '../queries.ts';

type Act = 'merge' | 'close' | 'ready';

/** Shows the state of a pull request, the possible actions, and why it could not be merged. */
export function MergeBox({ request }: { request: PullRequest }) {
  const { id, state, draft, merge, base, job } = request;
  const act = useMutation({
    mutationFn: (what: Act) => answerOf(api.POST(`/v1/pull-requests/{id}/${what}`, { params: { path: { id } } })),
    onSuccess: (changed) => queryClient.setQueryData(['pull-request', id], changed),
  });
  if (state === 'merged') {
    return (
      <p className="note merge-box merge-merged" role="status">
        Merged into <code className="branch">{base}</code>
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
  if (state === 'closed') {
    return (
      <p className="note merge-box merge-closed" role="status">
        Closed without merging. A follow-up message to{' '}
        <Link to="/jobs/$projectId/$id" params={{ projectId: job.projectId, id: job.id }}>
          its job
        </Link>{' '}
        opens a new one.
      </p>
    );
  }
  const isBusy = act.isPending || merge.isMerging;
  const problem = merge.isMerging ? null : merge.problem;
  return (
    <div className={`note merge-box ${problem === null ? 'merge-open' : 'merge-closed'}`}>
      {problem !== null && (
        <p className="merge-problem" role="alert">
          <strong>Not merged.</strong> {problem}
        </p>
      )}
      {draft && <p className="hint">Mark the draft as ready for review before you merge it.</p>}
      <Problem error={act.error} />
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
        <Link
          className="button"
          to="/jobs/$projectId/$id"
          params={{ projectId: job.projectId, id: job.id }}
          hash={followUpAnchor}
        >
          Request a change
        </Link>
        <Button className="button button-danger push" isDisabled={isBusy} onPress={() => act.mutate('close')}>
          Close
        </Button>
      </div>
    </div>
  );
}
