import type { JobBranchStore } from '../../db/for-worker/job-branches.ts';
import type { JobContextStore } from '../../db/for-worker/job-context.ts';
import type { WorkerJobStore } from '../../db/for-worker/jobs.ts';
import type { StepRow, StepStore } from '../../db/for-worker/steps.ts';
import type { WorkedTurn } from '../../workflows/contract/job.ts';
import { summaryOf, type Summary } from './pull-request-text.ts';

export interface SummaryDeps {
  jobs: Pick<WorkerJobStore, 'prompts'>;
  steps: Pick<StepStore, 'lastAnswered' | 'listBetween'>;
  context: Pick<JobContextStore, 'notes'>;
}

export interface TreeDeps {
  steps: Pick<StepStore, 'latestTree'>;
  branches: Pick<JobBranchStore, 'restoreTree'>;
}

export interface TurnSummary extends Summary {
  /** The model that answered last; null when it is not known. */
  model: string | null;
  /** First step of a review that was cut off: the work was finished before it. */
  cutReview?: number;
}

const reviewCut = 'The agent did not complete its review of the change.';
const discarded = 'Your review was cut off before you finished it. The files are again as they were before the review.';
const reviewLeftOut = 'The agent did not review its change, because the limits of the job left no room for it.';

/**
 * Returns the agent's summary of a turn: that of before its review if the review ended without one. What an agent says at
 * the end of a review, instead of a call of `finish`, is what it found. Messages that it read since are further work, which
 * is incomplete if the review is cut off. The last call before a limit cuts it off unless it reports that all is done.
 */
export async function readSummary(
  { jobs, steps, context }: SummaryDeps,
  { jobId, turn, step }: WorkedTurn,
  { isReviewWanted }: { isReviewWanted: boolean },
): Promise<TurnSummary> {
  const answered = await steps.lastAnswered({ jobId, turn });
  const model = answered?.model ?? null;
  const notes = (await context.notes(jobId, turn)).filter((note) => note.turn === turn);
  const wasForced = notes.some((note) => note.kind === 'last-call' && note.step === answered?.step);
  const last = { ...summaryOf(answered, wasForced), model };
  const review = notes.find(({ kind }) => kind === 'self-review')?.step;
  if (review === undefined) return isReviewWanted && last.isComplete ? { ...last, findings: reviewLeftOut } : last;
  const hasAnswered = review <= (answered?.step ?? 0);
  const isCut = wasForced && !last.isComplete;
  const prompts = await jobs.prompts(jobId, turn);
  const isFurther = prompts.some((prompt) => prompt.turn === turn && prompt.step !== null && prompt.step >= review);
  if (hasAnswered && last.title !== null && (isFurther || !isCut)) return last;
  const hasEnded = hasAnswered && !isCut && endsWithText(answered, step);
  const bounds = { after: { turn, step: review - 2 }, before: { turn, step: review } };
  const [finished = null] = await steps.listBetween(jobId, bounds);
  const before = { ...summaryOf(finished), model };
  if (isFurther) return hasEnded ? last : { ...before, isComplete: false };
  return hasEnded ? { ...before, findings: last.message } : { ...before, findings: reviewCut, cutReview: review };
}

/** Reports whether the last step of the work has an answer without calls. Older executions do not name their last step. */
function endsWithText(answered: StepRow | null, lastStep = answered?.step): boolean {
  return answered?.step === lastStep && answered?.response?.toolCalls.length === 0;
}

/**
 * Returns the tree that a turn publishes, the newest one. That of before a review that was cut off becomes the newest
 * first, and a note tells the agent.
 */
export async function treeToPublish(
  { steps, branches }: TreeDeps,
  ref: WorkedTurn,
  cutReview: number | undefined,
): Promise<string | null> {
  if (cutReview !== undefined) await branches.restoreTree({ ...ref, review: cutReview, note: discarded });
  return steps.latestTree(ref.jobId);
}
