import { Link } from '@tanstack/react-router';
import { PullRequestBadge } from '../components/status.tsx';
import { duration, fullTime, plural } from '../format.ts';
import type { Job, Step, Turn } from '../http/types.ts';
import { plain } from '../plain.ts';
import { adviceOn, remedyOf } from './advice.ts';

interface ResultProps {
  job: Job;
  projectId: string;
  /** The newest turn; undefined until it is loaded. */
  turn: Turn | undefined;
  steps: Step[];
}

/** Shows first how a job ended, what it changed, and what a person would do next. */
export function Result({ job, projectId, turn, steps }: ResultProps) {
  const { failure, incomplete, pullRequest } = job.details;
  const { heading, className } = endingOf(job);
  return (
    <section className={`note result ${className}`} aria-label="Result">
      <h2>{heading}</h2>
      <p className="hint">{factsOf(turn, steps)}</p>
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
        {job.prLink !== null && (
          <>
            <a className="button button-primary" href={job.prLink}>
              View pull request
            </a>
            {pullRequest !== null && <PullRequestBadge {...pullRequest} />}
          </>
        )}
        {failure !== null && (
          <Link
            className={job.prLink === null ? 'button button-primary' : 'button'}
            to="/new"
            state={{
              again: {
                projectId,
                prompt: turn?.prompt ?? '',
                ref: job.source.ref ?? '',
                model: job.model,
                fallbacks: job.details.models.slice(1).join('\n'),
                effort: job.details.reasoningEffort ?? '',
                outputLimit: job.details.maxOutputTokens?.toString() ?? '',
              },
            }}
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

/** Returns when the newest turn ended, how long it took, and how many files differ from the base since. */
function factsOf(turn: Turn | undefined, steps: Step[]): string {
  if (turn === undefined || turn.endedAt === null) return '';
  const ofTurn = steps.filter((step) => step.turn === turn.turn);
  const changedFiles = ofTurn.findLast((step) => step.changedFiles !== null)?.changedFiles ?? 0;
  return [
    fullTime(turn.endedAt),
    `took ${duration(Date.parse(turn.endedAt) - Date.parse(turn.createdAt))}`,
    ...(changedFiles === 0 ? [] : [`${plural(changedFiles, 'file')} changed`]),
  ].join(' · ');
}
