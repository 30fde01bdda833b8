import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button } from 'react-aria-components';
import { Confirm } from '../components/confirm.tsx';
import { Problem } from '../components/fields.tsx';
import { plural, repositoryName } from '../format.ts';
import { answerOf, api } from '../http/client.ts';
import type { PullRequest } from '../http/types.ts';
import { followUpAnchor, useSendMessage, useShowNewTurn } from '../jobs/send-message.ts';
import { queryClient } from '../queries.ts';

type Act = 'merge' | 'close' | 'ready';

function act(id: string, what: Act): Promise<PullRequest> {
  return answerOf(api.POST(`/v1/pull-requests/{id}/${what}`, { params: { path: { id } } }));
}

/** Shows the state of a pull request, the possible actions, and why it could not be merged. */
export function MergeBox({ request }: { request: PullRequest }) {
  const { id, state, draft, merge, base, job, commits, repository } = request;
  const show = (changed: PullRequest) => queryClient.setQueryData(['pull-request', id], changed);
  const ready = useMutation({ mutationFn: () => act(id, 'ready'), onSuccess: show });
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
  const problem = merge.isMerging ? null : merge.problem;
  return (
    <div className={`note merge-box ${problem === null ? 'merge-open' : 'merge-closed'}`}>
      {problem !== null && (
        <div className="merge-problem" role="alert">
          <strong>Not merged.</strong> {problem}
        </div>
      )}
      {draft && <p className="hint">Mark the draft as ready for review before you merge it.</p>}
      <Problem error={ready.error} />
      <div className="actions">
        {draft ? (
          <Button className="button button-primary" isDisabled={ready.isPending} onPress={() => ready.mutate()}>
            Ready for review
          </Button>
        ) : (
          <Confirm
            label={merge.isMerging ? 'Merging…' : 'Merge'}
            what={`Merge into ${base}`}
            title="Merge this pull request?"
            text={`A merge commit adds ${plural(commits.length, 'commit')} to ${base} of ${repositoryName(repository)}. This cannot be undone.`}
            isMain
            isDisabled={merge.isMerging}
            act={() => act(id, 'merge')}
            onDone={show}
          />
        )}
        {problem !== null && <AskToResolve job={job} problem={problem} base={base} />}
        <Link
          className="button"
          to="/jobs/$projectId/$id"
          params={{ projectId: job.projectId, id: job.id }}
          hash={followUpAnchor}
        >
          Request a change
        </Link>
        <span className="push">
          <Confirm
            label="Close"
            what="Close the pull request"
            title="Close this pull request?"
            text="Its branch stays. A follow-up message to the job opens a new pull request."
            isDisabled={merge.isMerging}
            act={() => act(id, 'close')}
            onDone={show}
          />
        </span>
      </div>
    </div>
  );
}

/** Sends the agent the reason why its pull request could not be merged, and shows the job. */
function AskToResolve({ job, problem, base }: { job: PullRequest['job']; problem: string; base: string }) {
  const showJob = useShowNewTurn(job);
  const send = useSendMessage(job, showJob);
  return (
    <>
      <Button
        className="button"
        isDisabled={send.isPending}
        onPress={() =>
          send.mutate(
            `The pull request could not be merged into ${base}: ${problem}\n\nResolve this: bring the change up to date with ${base}.`,
          )
        }
      >
        Ask the agent to resolve
      </Button>
      <Problem error={send.error} />
    </>
  );
}
