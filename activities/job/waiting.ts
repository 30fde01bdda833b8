import type { TurnWait } from '../../db/for-worker/job-writes.ts';
import type { StepRow } from '../../db/for-worker/steps.ts';
import { isPlanning, type JobRow } from '../../db/jobs/jobs.ts';
import { summaryOf } from '../publish/pull-request-text.ts';
import { questionOf } from '../tools/ask-tool.ts';

/** Plan or question that a turn ended with. */
export type Wait = Pick<TurnWait, 'title' | 'plan' | 'question'>;

const noPlan = 'The agent ended without a plan. Send a message to ask for one.';

/** Returns what a job waits for after a turn whose last answered step is `last`; null when the turn is published. */
export function waitOf(job: Pick<JobRow, 'planReview' | 'approvedTurn'>, last: StepRow | null): Wait | null {
  const question = last === null ? null : questionOf(last);
  if (question !== null) return { title: null, plan: null, question };
  if (!isPlanning(job)) return null;
  const { title, message } = summaryOf(last);
  return { title, plan: message === '' ? noPlan : message, question: null };
}
