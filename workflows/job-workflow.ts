import {
  CancellationScope,
  TemporalFailure,
  allHandlersFinished,
  condition,
  makeContinueAsNewFunc,
  patched,
  workflowInfo,
} from '@temporalio/workflow';
import type { JobInput, JobOutcome } from './contract/job.ts';
import { FailureType } from './contract/failures.ts';
import { keepsWork, limitFailure, outcomeOfFailure, timeSentence, type FailedOutcome } from './failure-outcome.ts';
import {
  advance,
  hasRoom,
  initialState,
  limitAfter,
  limitsOf,
  progressOf,
  reachedLimit,
  remainingMs,
  reviewEnded,
  type JobState,
} from './job-state.ts';
import { keepWork, prepare, publish, recordOutcome, runStep, runStepInTwo } from './proxies.ts';

/**
 * History length at which a run continues as new. A replay of this many events fits well within the workflow task
 * timeout.
 */
const maxHistoryEvents = 1_500;

/**
 * Runs one turn of a job: prepares, takes steps until the model is done, publishes, and records the outcome. A message that arrives before the outcome is recorded continues the turn, or begins the next one if the limits leave no room for it.
 */
export async function jobWorkflow(input: JobInput): Promise<JobOutcome> {
  const turn = { jobId: input.jobId, turn: input.turn };
  try {
    let state = initialState(input, Date.now());
    for (;;) {
      state = await work(input, state);
      const worked = { ...turn, step: state.step };
      const outcome = await publish(worked);
      const isOver = !hasRoom(state, limitsOf(input.limits, state), Date.now());
      const goesOn = await CancellationScope.nonCancellable(() => recordOutcome({ ...worked, outcome, isOver }));
      if (!goesOn) return outcome;
      state = advance(state, { kind: 'message-arrived' });
    }
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error; // a bug, or the turn continues as new
    const failed = outcomeOfFailure(error, CancellationScope.current().consideredCancelled);
    const outcome = keepsWork(failed) ? await withWorkKept(input, failed) : failed;
    await CancellationScope.nonCancellable(() => recordOutcome({ ...turn, outcome }));
    throw error;
  }
}

/** Returns the outcome with the result of publishing the work. A failed publish does not change why the turn failed. */
async function withWorkKept({ jobId, turn, limits }: JobInput, failed: FailedOutcome): Promise<FailedOutcome> {
  const message = failed.category === FailureType.TimeLimit ? timeSentence(limits) : failed.message;
  try {
    return { ...failed, ...(await keepWork({ jobId, turn, category: failed.category, message })) };
  } catch (error) {
    if (!(error instanceof TemporalFailure)) throw error;
    return {
      ...failed,
      message: `${message} No pull request could be opened for its changes; the job's diff has them.`,
    };
  }
}

/** Cancels running activities when the turn's wall time runs out. */
async function work(input: JobInput, state: JobState): Promise<JobState> {
  const timeMs = Math.max(1, remainingMs(state, input.limits, Date.now()));
  return CancellationScope.withTimeout(timeMs, () => runSteps(input, state));
}

async function runSteps(input: JobInput, begin: JobState): Promise<JobState> {
  const turn = { jobId: input.jobId, turn: input.turn };
  const takeStep = patched('run-step') ? runStep : runStepInTwo;
  let state = begin;
  if (state.stage === 'preparing') {
    const prepared = await prepare(turn);
    state = advance(state, { kind: 'prepared', firstStep: prepared?.firstStep });
  }
  const limits = limitsOf(input.limits, state);
  while (state.stage !== 'publishing') {
    const limit = reachedLimit(state, limits, Date.now());
    if (limit !== null && state.isReviewing === true) return reviewEnded(state);
    if (limit !== null) throw limitFailure(limit, state, input.limits);
    const lastBefore = limitAfter(state, limits, Date.now());
    const callsLeft = limits.maxSteps - state.step + 1;
    const result = await takeStep({ ...turn, step: state.step, callsLeft, lastBefore }).catch(endOfReview(state));
    if (result === null) return reviewEnded(state);
    state = advance(state, { kind: 'step-taken', result });
    const isUnfinished = (result.tools ?? result).isUnfinished === true;
    if (isUnfinished && lastBefore !== null && state.isReviewing !== true)
      throw limitFailure(lastBefore, state, input.limits);
    if (state.stage === 'running' && isHistoryLong()) await continueAt(input, state);
  }
  return state;
}

/** Returns the handler of a failed step: null for a failure that ends a review, after which the work is published. */
function endOfReview({ isReviewing }: JobState): (error: unknown) => null {
  return (error) => {
    const isEnd = isReviewing === true && error instanceof TemporalFailure;
    // the current scope is that of the time limit
    const wasCancelled = CancellationScope.current().parent?.consideredCancelled === true;
    if (isEnd && keepsWork(outcomeOfFailure(error, wasCancelled))) return null;
    throw error;
  };
}

function isHistoryLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength > maxHistoryEvents;
}

async function continueAt(input: JobInput, state: JobState): Promise<never> {
  await condition(allHandlersFinished);
  // a turn stays on the code it started with; a new history may move to the newest version
  const isCodeOld = workflowInfo().targetWorkerDeploymentVersionChanged;
  const continueTurn = makeContinueAsNewFunc<typeof jobWorkflow>(
    isCodeOld ? { initialVersioningBehavior: 'AUTO_UPGRADE' } : {},
  );
  return continueTurn({ ...input, progress: progressOf(state) });
}
