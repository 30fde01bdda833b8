import {
  CancellationScope,
  TemporalFailure,
  allHandlersFinished,
  condition,
  makeContinueAsNewFunc,
  workflowInfo,
} from '@temporalio/workflow';
import type { JobInput, JobOutcome } from './contract/job.ts';
import { FailureType } from './contract/failures.ts';
import { keepsWork, limitFailure, outcomeOfFailure, timeSentence, type FailedOutcome } from './failure-outcome.ts';
import {
  advance,
  initialState,
  limitAfter,
  limitsOf,
  progressOf,
  reachedLimit,
  remainingMs,
  type JobState,
} from './job-state.ts';
import { callModel, keepWork, prepare, publish, recordOutcome, runTools } from './proxies.ts';

/** A replay of this many events still fits into the timeout of a workflow task, with room to spare. */
const maxHistoryEvents = 1_500;

/**
 * One turn of a job: prepare, let model and tools work until the model is done, publish, record how it ended. A message
 * that arrives before the end is recorded makes the turn go on.
 */
export async function jobWorkflow(input: JobInput): Promise<JobOutcome> {
  const turn = { jobId: input.jobId, turn: input.turn };
  try {
    let state = initialState(input, Date.now());
    for (;;) {
      state = await work(input, state);
      const outcome = await publish(turn);
      const goesOn = await CancellationScope.nonCancellable(() => recordOutcome({ ...turn, outcome }));
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

/** The outcome, with what became of the work. That nothing could be published changes nothing about why the turn failed. */
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

/** Cancels what runs when the wall time of the turn is spent. */
async function work(input: JobInput, state: JobState): Promise<JobState> {
  const timeMs = Math.max(1, remainingMs(state, input.limits, Date.now()));
  return CancellationScope.withTimeout(timeMs, () => runSteps(input, state));
}

async function runSteps(input: JobInput, begin: JobState): Promise<JobState> {
  const turn = { jobId: input.jobId, turn: input.turn };
  let state = begin;
  if (state.stage === 'preparing') {
    const prepared = await prepare(turn);
    state = advance(state, { kind: 'prepared', firstStep: prepared?.firstStep });
  }
  const limits = limitsOf(input.limits, state);
  while (state.stage !== 'publishing') {
    const limit = reachedLimit(state, limits, Date.now());
    if (limit !== null) throw limitFailure(limit, state, input.limits);
    const lastBefore = limitAfter(state, limits, Date.now());
    const step = { ...turn, step: state.step };
    const callsLeft = limits.maxSteps - state.step + 1;
    const answer = await callModel({ ...step, callsLeft, lastBefore });
    state = advance(state, { kind: 'answered', answer });
    if (answer.isUnfinished === true && lastBefore !== null) throw limitFailure(lastBefore, state, input.limits);
    if (state.stage === 'acting') {
      const result = await runTools({ ...step, lastBefore });
      if (result.isUnfinished === true && lastBefore !== null) throw limitFailure(lastBefore, state, input.limits);
      state = advance(state, { kind: 'tools-ran', result });
    }
    if (state.stage === 'asking' && isHistoryLong()) await continueAt(input, state);
  }
  return state;
}

function isHistoryLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength > maxHistoryEvents;
}

async function continueAt(input: JobInput, state: JobState): Promise<never> {
  await condition(allHandlersFinished);
  // a turn stays with the code it began on; where it begins a new history it may move to the newest
  const isCodeOld = workflowInfo().targetWorkerDeploymentVersionChanged;
  const continueTurn = makeContinueAsNewFunc<typeof jobWorkflow>(
    isCodeOld ? { initialVersioningBehavior: 'AUTO_UPGRADE' } : {},
  );
  return continueTurn({ ...input, progress: progressOf(state) });
}
