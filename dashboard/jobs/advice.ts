import type { Job } from '../http/types.ts';

type Failure = NonNullable<Job['details']['failure']>;

/** Says what to do after a failure. The API's own remedy may name fields of its requests. */
export function remedyOf({ category, remedy }: Pick<Failure, 'category' | 'remedy'>): string {
  return category === 'ref_not_found'
    ? '“Retry with…” opens the form of the job, where you can change the base branch.'
    : remedy;
}

/** Says what helps after a failure, in addition to its remedy. */
export function adviceOn({ category, retryable }: Pick<Failure, 'category' | 'retryable'>): string {
  if (category === 'cancelled' || category === 'ref_not_found') return '';
  return retryable
    ? 'Retry, send a message below, or fork from a step.'
    : 'A plain retry will fail again. A message below starts another turn.';
}

/** Says why a job accepts no message; null if it does. */
export function refusalOfMessage({
  status,
  details,
}: Pick<Job, 'status'> & { details: Pick<Job['details'], 'failure'> }): string | null {
  if (status === 'archived') return 'An archived job accepts no messages. Fork it to continue from a step.';
  if (details.failure?.category === 'ref_not_found') return 'A message cannot change the base branch. Retry the job.';
  return null;
}

/** Says what becomes of a message to a job. */
export function effectOfMessage({
  status,
  details,
}: Pick<Job, 'status'> & { details: Pick<Job['details'], 'pullRequest' | 'waiting'> }): string {
  if (details.waiting?.for === 'approval') return 'The agent revises its plan with this.';
  if (details.waiting?.for === 'answer') return 'The agent gets this as the answer to its question.';
  if (status === 'active') return 'The agent reads this before its next step.';
  switch (details.pullRequest?.state) {
    case 'open':
      return 'The agent continues on the same branch and pull request.';
    case 'merged':
    case 'closed':
      return `The pull request is ${details.pullRequest.state}: changes go to a new branch and pull request.`;
    default:
      return 'The agent continues and opens a pull request if it changes files.';
  }
}
