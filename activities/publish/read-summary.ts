import type { JobContextStore } from '../../db/for-worker/job-context.ts';
import type { StepStore } from '../../db/for-worker/steps.ts';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { summaryOf, type Summary } from './pull-request-text.ts';

export interface SummaryDeps {
  steps: Pick<StepStore, 'lastAnswered' | 'listBetween'>;
  context: Pick<JobContextStore, 'notes'>;
}

export interface TurnSummary extends Summary {
  /** The model that answered last; null when it is not known. */
  model: string | null;
}

const reviewCut = 'The agent did not complete its review of the change.';
const reviewLeftOut = 'The agent did not review its change, because the limits of the job left no room for it.';

/**
 * Returns the agent's summary of a turn: that of before its review if the review ended without one. What an agent says at
 * the end of a review, in place of a call of `finish`, is what it found.
 */
export async function readSummary(
  { steps, context }: SummaryDeps,
  { jobId, turn }: TurnRef,
  { isReviewWanted }: { isReviewWanted: boolean },
): Promise<TurnSummary> {
  const answered = await steps.lastAnswered({ jobId, turn });
  const model = answered?.model ?? null;
  const last = { ...summaryOf(answered), model };
  const notes = await context.notes(jobId, turn);
  const review = notes.find((note) => note.kind === 'self-review' && note.turn === turn);
  if (review === undefined) return isReviewWanted && last.isComplete ? { ...last, findings: reviewLeftOut } : last;
  const hasAnswered = review.step <= (answered?.step ?? 0);
  if (hasAnswered && last.title !== null) return last;
  const bounds = { after: { turn, step: review.step - 2 }, before: { turn, step: review.step } };
  const [finished = null] = await steps.listBetween(jobId, bounds);
  const before = summaryOf(finished);
  // an agent that called finish before would have called it again
  const isOver = hasAnswered && before.title === null && answered?.response?.toolCalls.length === 0;
  return { ...before, findings: isOver ? last.message : reviewCut, model };
}
