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

/** Returns the agent's summary of a turn: that of before its review if the review ended without one. */
export async function readSummary({ steps, context }: SummaryDeps, { jobId, turn }: TurnRef): Promise<TurnSummary> {
  const answered = await steps.lastAnswered({ jobId, turn });
  const model = answered?.model ?? null;
  const last = { ...summaryOf(answered), model };
  const notes = await context.notes(jobId, turn);
  const review = notes.find((note) => note.kind === 'self-review' && note.turn === turn);
  if (review === undefined || (last.title !== null && review.step <= (answered?.step ?? 0))) return last;
  const before = { after: { turn, step: review.step - 2 }, before: { turn, step: review.step } };
  const [finished = null] = await steps.listBetween(jobId, before);
  return { ...summaryOf(finished), findings: reviewCut, model };
}
