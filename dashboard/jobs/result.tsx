import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { nameOfActor } from '../actor.ts';
import { ChangedLines } from '../components/change-size.tsx';
import { Copy } from '../components/copy.tsx';
import { Markdown } from '../components/markdown.tsx';
import { Problem } from '../components/fields.tsx';
import { useMay, useSession } from '../components/session.tsx';
import { PullRequestBadge, pullRequestName } from '../components/status.tsx';
import { duration, fullTime, plural } from '../format.ts';
import type { Job, ListedJob, Step, Turn } from '../http/types.ts';
import { beginning, plain } from '../plain.ts';
import { newId } from '../widget/new-id.ts';
import { adviceOn, remedyOf } from './advice.ts';
import { fieldsToRetry, retryJob, type Retry } from './retry.ts';
import { outcomeAnchorOf } from './timeline/timeline.ts';

/** Number of characters of the agent's message. */
const maxMessageLength = 1_500;

interface ResultProps {
  job: Job;
  projectId: string;
  /** The newest turn; undefined until it is loaded. */
  turn: Turn | undefined;
  steps: Step[];
  /** Size of the published change; null without one, and until it is loaded. */
  change: Pick<ListedJob, 'changedFiles' | 'additions' | 'deletions'> | null;
  /** Scrolls to an item of the conversation. */
  onShow(anchor: string): void;
}

/** Shows first how a job ended, what it changed, and what a person would do next. */
export function Result({ job, projectId, turn, steps, change, onShow }: ResultProps) {
  const { failure, incomplete, message, pullRequest } = job.details;
  const { heading, className } = endingOf(job);
  return (
    <section className={`note result ${className}`} aria-label="Result">
      <h2>{heading}</h2>
      <p className="hint">
        <ResultFacts turn={turn} steps={steps} change={change} hasFailed={failure !== null} />
      </p>
      {incomplete !== null && failure === null && <p>{plain(incomplete)}</p>}
      {failure === null && message !== null && <Message text={message} turn={turn} onShow={onShow} />}
      {failure !== null && (
        <>
          {failure.category === 'cancelled' ? (
            <>
              {message !== null && message !== `${heading}.` && <p>{plain(message)}</p>}
              <p>{remedyOf(failure)}</p>
            </>
          ) : (
            <>
              <ErrorText text={plain(message ?? incomplete ?? '')} />
              <p>{remedyOf(failure)}</p>
              <p className="hint">
                Category <code>{failure.category}</code>. {adviceOn(failure)}
              </p>
            </>
          )}
        </>
      )}
      <div className="actions">
        {job.prLink !== null && pullRequest !== null && (
          <>
            <a className="button button-primary" href={`/pulls/${pullRequest.id}`}>
              View pull request
            </a>
            <span>
              {pullRequestName(pullRequest.number)} <PullRequestBadge {...pullRequest} />
            </span>
          </>
        )}
        {failure !== null && (
          <RetryActions job={job} isFirst={job.prLink === null} retry={{ projectId, prompt: turn?.prompt ?? '' }} />
        )}
      </div>
    </section>
  );
}

interface MessageProps {
  text: string;
  turn: Turn | undefined;
  onShow(anchor: string): void;
}

/** Shows what the agent says that it did; of a long text, the beginning. */
function Message({ text, turn, onShow }: MessageProps) {
  const { shown, left } = beginning(text, maxMessageLength);
  return (
    <>
      <Markdown text={shown} />
      {left > 0 && turn !== undefined && (
        <Button className="button button-quiet" onPress={() => onShow(outcomeAnchorOf(turn))}>
          Show the whole message
        </Button>
      )}
    </>
  );
}

/** Shows an error as it came, of a long one the beginning. */
function ErrorText({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const { shown, left } = beginning(text, maxMessageLength);
  return (
    <>
      <p className="words">
        {isWhole || left === 0 ? text : `${shown}…`} {text !== '' && <Copy label="error" text={text} />}
      </p>
      {left > 0 && (
        <Button className="button button-quiet" aria-expanded={isWhole} onPress={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : 'Show the whole error'}
        </Button>
      )}
    </>
  );
}

interface RetryActionsProps {
  job: Job;
  /** Whether this is the main action. */
  isFirst: boolean;
  retry: Retry;
}

/** Offers to repeat a job as it was, where that can help, and with other fields. */
function RetryActions({ job, isFirst, retry }: RetryActionsProps) {
  const { projects } = useSession();
  const may = useMay('member');
  const navigate = useNavigate();
  const [idempotencyKey] = useState(newId);
  const again = useMutation({
    mutationFn: () => retryJob(job, { ...retry, idempotencyKey }, projects),
    onSuccess: ({ id }) => navigate({ to: '/jobs/$projectId/$id', params: { projectId: retry.projectId, id } }),
  });
  const { failure } = job.details;
  const mayHelp = failure?.retryable === true || failure?.category === 'cancelled';
  if (!may) return null;
  const classOf = (isPrimary: boolean) => (isPrimary ? 'button button-primary' : 'button');
  return (
    <>
      {mayHelp && (
        <Button
          className={classOf(isFirst)}
          isDisabled={again.isPending || retry.prompt === ''}
          onPress={() => again.mutate()}
        >
          Retry
        </Button>
      )}
      <Link
        className={classOf(isFirst && !mayHelp)}
        aria-keyshortcuts="r"
        to="/new"
        state={{ again: fieldsToRetry(job, retry) }}
      >
        Retry with…
      </Link>
      <Problem error={again.error} />
    </>
  );
}

function endingOf({ prLink, details: { failure, incomplete } }: Job): { heading: string; className: string } {
  if (failure?.category === 'cancelled') return { heading: failure.title, className: '' };
  if (failure !== null) return { heading: failure.title, className: 'note-error' };
  if (incomplete !== null) return { heading: 'Incomplete', className: 'note-warn' };
  if (prLink === null) return { heading: 'Completed without changes', className: 'note-warn' };
  return { heading: 'Completed', className: 'note-good' };
}

/** Shows when the newest turn ended, how long it took, and how large the change is since the base. */
export function ResultFacts({
  turn,
  steps,
  change,
  hasFailed,
}: Pick<ResultProps, 'turn' | 'steps' | 'change'> & { hasFailed: boolean }) {
  if (turn === undefined || turn.endedAt === null) return null;
  const ofTurn = steps.filter((step) => step.turn === turn.turn);
  const last = hasFailed ? ofTurn.at(-1) : undefined;
  const changedInTurn = ofTurn.findLast((step) => step.changedFiles !== null)?.changedFiles ?? 0;
  const { changedFiles, additions, deletions } = change ?? { changedFiles: null, additions: null, deletions: null };
  const files = changedFiles ?? changedInTurn;
  const by = nameOfActor(turn.endedBy);
  return (
    <>
      {by !== null && `By ${by} · `}
      {fullTime(turn.endedAt)} · took {duration(Date.parse(turn.endedAt) - Date.parse(turn.createdAt))}
      {last !== undefined && ` · ended at step ${last.step}`}
      {last !== undefined && last.attempts > 1 && ` in attempt ${last.attempts}`}
      {files > 0 && ` · ${plural(files, 'file')} changed`}
      {additions !== null && deletions !== null && (
        <>
          {' '}
          <ChangedLines additions={additions} deletions={deletions} />
        </>
      )}
    </>
  );
}
