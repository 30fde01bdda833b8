import type { Job } from '../http/types.ts';

const symbols = { active: '●', completed: '✓', failed: '✕', archived: '▢' };

/** Shows the status of a job as a label and a color, with the phase of an active job. */
export function StatusBadge({ job }: { job: Pick<Job, 'status' | 'details'> }) {
  const { phase, failure } = job.details;
  const isCancelled = failure?.category === 'cancelled';
  const label = isCancelled && job.status === 'failed' ? 'cancelled' : job.status;
  return (
    <span className={`badge ${phase === 'waiting' ? 'badge-warn' : `badge-${isCancelled ? 'archived' : job.status}`}`}>
      <span aria-hidden="true" className="badge-symbol">
        {phase === 'waiting' ? '◆' : symbols[job.status]}
      </span>
      {phase === null ? label : phase}
    </span>
  );
}

const pullRequestSymbols: Record<string, string> = { open: '●', draft: '○', merged: '✓', closed: '✕' };

interface PullRequestState {
  state: 'open' | 'closed' | 'merged';
  draft?: boolean;
}

/** Returns the state as it is shown: an open draft is a draft. */
function labelOf({ state, draft = false }: PullRequestState): string {
  return state === 'open' && draft ? 'draft' : state;
}

export function PullRequestBadge(pullRequest: PullRequestState) {
  const shown = labelOf(pullRequest);
  return (
    <span className={`badge badge-pr-${shown}`}>
      <span aria-hidden="true" className="badge-symbol">
        {pullRequestSymbols[shown]}
      </span>
      {shown}
    </span>
  );
}

/** Returns the name of a pull request by its number; null if that is unknown. */
export function pullRequestName(number: number | string | null): string {
  return number === null ? 'Pull request' : `PR #${number}`;
}
