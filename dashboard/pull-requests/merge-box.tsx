import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { useMay } from '../components/session.tsx';
import { nameOfActor } from '../actor.ts';
import { Choice } from '../components/choice.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Check, Problem } from '../components/fields.tsx';
import { plural, repositoryName } from '../format.ts';
import { answerOf, api } from '../http/client.ts';
import type { PullRequest } from '../http/types.ts';
import { followUpAnchor, useSendMessage, useShowNewTurn, type Message } from '../jobs/send-message.ts';
import { plain } from '../plain.ts';
import { queryClient } from '../queries.ts';

type Act = 'check' | 'close' | 'ready';
type Mergeability = NonNullable<PullRequest['merge']['mergeability']>;
type Cause = NonNullable<Mergeability['cause']>;

function act(id: string, what: Act): Promise<PullRequest> {
  return answerOf(api.POST(`/v1/pull-requests/{id}/${what}`, { params: { path: { id } } }));
}

const checkEveryMs = 30_000;

export const forgeNames = { local: 'the local forge', github: 'GitHub', gitlab: 'GitLab', gitea: 'Gitea' };

/** Shows the state of a pull request, the possible actions, and why it could not be merged. */
export function MergeBox({ pull }: { pull: PullRequest }) {
  const { id, state, draft, forge, link, headCommit, merge, base, job } = pull;
  const isLocal = forge === 'local';
  const may = useMay('member');
  const show = (changed: PullRequest) => queryClient.setQueryData(['pull-request', id], changed);
  const ready = useMutation({ mutationFn: () => act(id, 'ready'), onSuccess: show });
  const checks = useQuery({
    queryKey: ['pull-request-check', id, headCommit],
    queryFn: () => act(id, 'check').then(show),
    enabled: state === 'open' && may,
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
        {/* merged on the forge after Docket refused */}
        {byWhom(merge.problem === null ? merge.requestedBy : null)}.
      </p>
    );
  }
  if (state === 'closed') {
    return (
      <p className="note merge-box merge-closed" role="status">
        Closed without merging{byWhom(pull.closedBy)}. A follow-up message to{' '}
        <Link to="/jobs/$projectId/$id" params={{ projectId: job.projectId, id: job.id }}>
          its job
        </Link>{' '}
        {pull.isNewest ? 'opens a new one' : 'does not reopen it'}.
      </p>
    );
  }
  const problem = merge.isMerging ? null : merge.problem;
  const found = merge.mergeability;
  const obstacle = problem ?? found?.problem ?? null;
  const cause = found?.cause ?? null;
  const request = cause === null ? null : requestTo(cause, base);
  const isForPerson = obstacle !== null && request === null;
  return (
    <div className={`note merge-box ${obstacle === null ? 'merge-open' : 'merge-closed'}`}>
      {problem === null ? (
        // only who may merge asks for the check
        (found !== null || may) && <MergeCheck base={base} found={found} forge={forgeNames[forge]} />
      ) : (
        <div className="merge-problem" role="alert">
          <strong>Not merged.</strong> {problem}
          <Conflicts paths={found?.conflicts ?? []} />
        </div>
      )}
      {draft && (
        <p className="hint">
          Mark the draft as ready for review {isLocal ? '' : `on ${forgeNames[forge]} `}before you merge it.
        </p>
      )}
      <Problem error={ready.error} />
      <div className="actions">
        {request !== null && may && (
          <AskToResolve
            job={job}
            base={base}
            problem={obstacle ?? ''}
            conflicts={found?.conflicts ?? []}
            request={request}
          />
        )}
        {!isLocal && link !== null && (draft || isForPerson) && (
          <a className={`button ${draft || cause !== null ? 'button-primary' : ''}`} href={link}>
            Open on {forgeNames[forge]}
          </a>
        )}
        {draft && isLocal && may && (
          <Button className="button button-primary" isDisabled={ready.isPending} onPress={() => ready.mutate()}>
            Ready for review
          </Button>
        )}
        {!draft && <Merge pull={pull} isBlocked={cause !== null} onDone={show} />}
        {isForPerson && may && (
          <Button
            className="button"
            isDisabled={checks.isFetching || merge.isChecking}
            onPress={() => checks.refetch()}
          >
            Check again
          </Button>
        )}
        {may && (
          <Link
            className="button"
            to="/jobs/$projectId/$id"
            params={{ projectId: job.projectId, id: job.id }}
            hash={followUpAnchor}
          >
            Request a change
          </Link>
        )}
        {isLocal && (
          <span className="push">
            <Confirm
              role="member"
              label="Close"
              what="Close the pull request"
              title="Close this pull request?"
              text="Its branch remains. A follow-up message to the job opens a new pull request."
              isDisabled={merge.isMerging}
              act={() => act(id, 'close')}
              onDone={show}
            />
          </span>
        )}
      </div>
    </div>
  );
}

function byWhom(actor: PullRequest['closedBy']): string {
  const name = nameOfActor(actor);
  return name === null ? '' : ` by ${name}`;
}

/** Returns the message to the agent that unblocks a merge; null for a cause that an agent cannot clear. */
function requestTo(cause: Cause, base: string): Message | null {
  switch (cause) {
    case 'conflict':
    case 'behind':
      return { prompt: `Resolve this: bring the change up to date with ${base}.`, mergeBase: true };
    case 'checks':
      return { prompt: 'Find out which checks fail, and fix the cause.' };
    case 'moved':
      return { prompt: 'Take over the commits of others on the branch.' };
    case 'rules':
    case 'access':
      return null;
  }
}

function headingOf(cause: Mergeability['cause'], base: string): string {
  switch (cause) {
    case 'conflict':
      return `Conflicts with ${base}.`;
    case 'behind':
      return `Behind ${base}.`;
    case 'checks':
      return 'Required checks did not pass.';
    case 'moved':
      return 'The branch has new commits.';
    case 'rules':
      return 'Merging is blocked.';
    case 'access':
      return 'Docket lacks permission to merge.';
    case null:
      return 'Cannot be merged yet.';
  }
}

interface MergeCheckProps {
  base: string;
  found: Mergeability | null;
  /** Name of the forge. */
  forge: string;
}

/** Shows whether the pull request can be merged, and what a person has to do on the forge. */
function MergeCheck({ base, found, forge }: MergeCheckProps) {
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
      <strong>{headingOf(found.cause, base)}</strong> {found.problem}
      {found.cause === 'rules' && ` Open it on ${forge} to approve it, or to see what is missing.`}
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

interface MergeProps {
  pull: PullRequest;
  isBlocked: boolean;
  onDone(changed: PullRequest): void;
}

/** Asks how to merge, once. */
function Merge({ pull, isBlocked, onDone }: MergeProps) {
  const { id, headCommit, merge, base, commits, repository } = pull;
  const [method, setMethod] = useState<'merge' | 'squash'>('merge');
  const [deleteBranch, setDeleteBranch] = useState(false);
  const body = { method, deleteBranch, ...(headCommit === null ? {} : { headCommit }) };
  const what =
    method === 'merge' ? `A merge commit adds ${plural(commits.length, 'commit')}` : 'A single commit adds the changes';
  return (
    <Confirm
      role="member"
      label={merge.isMerging ? 'Merging…' : 'Merge'}
      what={`Merge into ${base}`}
      title="Merge this pull request?"
      text={`${what} to ${base} of ${repositoryName(repository)}. This cannot be undone.`}
      isMain
      isDisabled={merge.isMerging || isBlocked}
      act={() => answerOf(api.POST('/v1/pull-requests/{id}/merge', { params: { path: { id } }, body }))}
      onDone={onDone}
    >
      <Choice label="Method" value={method} options={methods} onChange={setMethod} />
      <Check label="Delete the branch after the merge" value={deleteBranch} onChange={setDeleteBranch} />
    </Confirm>
  );
}

interface AskToResolveProps {
  job: PullRequest['job'];
  problem: string;
  conflicts: string[];
  base: string;
  /** The message to the agent, without the reason. */
  request: Message;
}

/** Sends the agent the reason why its pull request could not be merged, and shows the job. */
function AskToResolve({ job, problem, conflicts, base, request }: AskToResolveProps) {
  const showJob = useShowNewTurn(job);
  const send = useSendMessage(job, showJob);
  return (
    <>
      <Button
        className="button button-primary"
        isDisabled={send.isPending}
        onPress={() =>
          send.mutate({
            ...request,
            prompt: `The pull request cannot be merged into ${base}: ${problem}${filesOf(conflicts)}\n\n${request.prompt}`,
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
