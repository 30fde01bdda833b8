import {
  CancellationScope,
  TemporalFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  workflowInfo,
} from '@temporalio/workflow';
import type { JobInput, JobOutcome } from './contract/job.ts';
import { limitFailure, outcomeOfFailure } from './failure-outcome.ts';
import { advance, initialState, progressOf, reachedLimit, remainingMs, type JobState } from './job-state.ts';
import { callModel, prepare, publish, recordOutcome, runTools } from './proxies.ts';

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
    const outcome = outcomeOfFailure(error, CancellationScope.current().consideredCancelled);
    await CancellationScope.nonCancellable(() => recordOutcome({ ...turn, outcome }));
    throw error;
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
    await prepare(turn);
    state = advance(state, { kind: 'prepared' });
  }
  while (state.stage !== 'publishing') {
    const limit = reachedLimit(state, input.limits, Date.now());
    if (limit !== null) throw limitFailure(limit);
    const step = { ...turn, step: state.step };
    state = advance(state, { kind: 'answered', answer: await callModel(step) });
    if (state.stage === 'acting') state = advance(state, { kind: 'tools-ran', result: await runTools(step) });
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
  return continueAsNew<typeof jobWorkflow>({ ...input, progress: progressOf(state) });
}
