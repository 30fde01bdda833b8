import { Link } from '@tanstack/react-router';
import { nameOfActor } from '../actor.ts';
import { ChangedLines } from '../components/change-size.tsx';
import { PullRequestBadge, pullRequestName } from '../components/status.tsx';
import { duration, fullTime, plural } from '../format.ts';
import type { Job, ListedJob, Step, Turn } from '../http/types.ts';
import { plain } from '../plain.ts';
import { adviceOn, remedyOf } from './advice.ts';
import { fieldsToRetry } from './fields-to-retry.ts';

interface ResultProps {
  job: Job;
  projectId: string;
  /** The newest turn; undefined until it is loaded. */
  turn: Turn | undefined;
  steps: Step[];
  /** Size of the published change; null without one, and until it is loaded. */
  change: Pick<ListedJob, 'changedFiles' | 'additions' | 'deletions'> | null;
}

/** Shows first how a job ended, what it changed, and what a person would do next. */
export function Result({ job, projectId, turn, steps, change }: ResultProps) {
  const { failure, incomplete, pullRequest } = job.details;
  const { heading, className } = endingOf(job);
  return (
    <section className={`note result ${className}`} aria-label="Result">
      <h2>{heading}</h2>
      <p className="hint">
        <ResultFacts turn={turn} steps={steps} change={change} hasFailed={failure !== null} />
      </p>
      {incomplete !== null && <p>{plain(incomplete)}</p>}
      {failure !== null && (
        <>
          <p>{remedyOf(failure)}</p>
          {failure.category !== 'cancelled' && (
            <p className="hint">
              Category <code>{failure.category}</code>. {adviceOn(failure)}
            </p>
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
          <Link
            className={job.prLink === null ? 'button button-primary' : 'button'}
            aria-keyshortcuts="r"
            to="/new"
            state={{ again: fieldsToRetry(job, { projectId, prompt: turn?.prompt ?? '' }) }}
          >
            Retry
          </Link>
        )}
      </div>
    </section>
  );
}

function endingOf({ prLink, details: { failure, incomplete } }: Job): { heading: string; className: string } {
  if (failure?.category === 'cancelled') return { heading: failure.title, className: '' };
  if (failure !== null) return { heading: failure.title, className: 'note-error' };
  if (incomplete !== null) return { heading: 'Incomplete', className: 'note-warn' };
  if (prLink === null) return { heading: 'Completed without changes', className: '' };
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
