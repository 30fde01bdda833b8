import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { Choice } from '../components/choice.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Check, Problem } from '../components/fields.tsx';
import { plural, repositoryName } from '../format.ts';
import { answerOf, api } from '../http/client.ts';
import type { PullRequest } from '../http/types.ts';
import { followUpAnchor, useSendMessage, useShowNewTurn } from '../jobs/send-message.ts';
import { plain } from '../plain.ts';
import { queryClient } from '../queries.ts';

type Act = 'check' | 'close' | 'ready';

function act(id: string, what: Act): Promise<PullRequest> {
  return answerOf(api.POST(`/v1/pull-requests/{id}/${what}`, { params: { path: { id } } }));
}

const checkEveryMs = 30_000;

/** Shows the state of a pull request, the possible actions, and why it could not be merged. */
export function MergeBox({ request }: { request: PullRequest }) {
  const { id, state, draft, merge, base, job, commits } = request;
  const show = (changed: PullRequest) => queryClient.setQueryData(['pull-request', id], changed);
  const ready = useMutation({ mutationFn: () => act(id, 'ready'), onSuccess: show });
  useQuery({
    queryKey: ['pull-request-check', id, commits.at(-1)?.id],
    queryFn: () => act(id, 'check').then(show),
    enabled: state === 'open',
    refetchInterval: checkEveryMs,
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
  const problem = merge.isMerging ? null : merge.problem;
  const found = merge.mergeability;
  const obstacle = problem ?? found?.problem ?? null;
  return (
    <div className={`note merge-box ${obstacle === null ? 'merge-open' : 'merge-closed'}`}>
      {problem === null ? (
        <MergeCheck base={base} found={found} />
      ) : (
        <div className="merge-problem" role="alert">
          <strong>Not merged.</strong> {problem}
          <Conflicts paths={found?.conflicts ?? []} />
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
          <Merge request={request} onDone={show} />
        )}
        {obstacle !== null && (
          <AskToResolve job={job} problem={obstacle} conflicts={found?.conflicts ?? []} base={base} />
        )}
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

/** Shows whether the pull request can be merged. */
function MergeCheck({ base, found }: { base: string; found: PullRequest['merge']['mergeability'] }) {
  if (found === null) return <p className="merge-problem quiet">Checking for conflicts with {base}…</p>;
  if (found.problem === null) {
    return (
      <p className="merge-problem" role="status">
        <strong className="merge-fine">✓</strong> No conflicts with <code className="branch">{base}</code>
      </p>
    );
  }
  return (
    <div className="merge-problem" role="status">
      <strong>{found.conflicts.length === 0 ? 'Cannot be merged.' : `Conflicts with ${base}.`}</strong> {found.problem}
      <Conflicts paths={found.conflicts} />
    </div>
  );
}

function Conflicts({ paths }: { paths: string[] }) {
  if (paths.length === 0) return null;
  return (
    <ul className="conflicts" aria-label="Files with conflicts">
      {paths.map((path) => (
        <li key={path}>
          <code>{plain(path)}</code>
        </li>
      ))}
    </ul>
  );
}

const methods = [
  ['merge', 'Merge commit'],
  ['squash', 'Squash into one commit'],
] as const;

/** Asks how to merge, once. */
function Merge({ request, onDone }: { request: PullRequest; onDone(changed: PullRequest): void }) {
  const { id, merge, base, commits, repository } = request;
  const [method, setMethod] = useState<'merge' | 'squash'>('merge');
  const [deleteBranch, setDeleteBranch] = useState(false);
  const what =
    method === 'merge' ? `A merge commit adds ${plural(commits.length, 'commit')}` : 'A single commit adds the changes';
  return (
    <Confirm
      label={merge.isMerging ? 'Merging…' : 'Merge'}
      what={`Merge into ${base}`}
      title="Merge this pull request?"
      text={`${what} to ${base} of ${repositoryName(repository)}. This cannot be undone.`}
      isMain
      isDisabled={merge.isMerging || (merge.mergeability?.conflicts.length ?? 0) > 0}
      act={() =>
        answerOf(api.POST('/v1/pull-requests/{id}/merge', { params: { path: { id } }, body: { method, deleteBranch } }))
      }
      onDone={onDone}
    >
      <Choice label="Method" value={method} options={methods} onChange={setMethod} />
      <Check label="Delete the branch after the merge" isSelected={deleteBranch} onChange={setDeleteBranch} />
    </Confirm>
  );
}

interface AskToResolveProps {
  job: PullRequest['job'];
  problem: string;
  conflicts: string[];
  base: string;
}

/** Sends the agent the reason why its pull request could not be merged, and shows the job. */
function AskToResolve({ job, problem, conflicts, base }: AskToResolveProps) {
  const showJob = useShowNewTurn(job);
  const send = useSendMessage(job, showJob);
  return (
    <>
      <Button
        className="button button-primary"
        isDisabled={send.isPending}
        onPress={() =>
          send.mutate({
            prompt: `The pull request cannot be merged into ${base}: ${problem}${filesOf(conflicts)}\n\nResolve this: bring the change up to date with ${base}.`,
          })
        }
      >
        Ask the agent to resolve
      </Button>
      <Problem error={send.error} />
    </>
  );
}

function filesOf(conflicts: string[]): string {
  return conflicts.length === 0 ? '' : `\n\nFiles with conflicts: ${conflicts.join(', ')}`;
}
