import { promiseHooks } from 'node:v8';
import { Worker } from '@temporalio/worker';
import type { History } from '../../db/jobs/stored-history.ts';

type HistoryEvent = NonNullable<History['events']>[number];

interface DecidedEvent {
  id: number;
  type: string;
  /** Name of the activity, if the event has one. */
  subject: string | null;
}

/** The result of replaying a history with the current workflow code. */
export type ReplayVerdict =
  | { matches: true; events: number }
  | {
      matches: false;
      /** Position of the run in the chain, from 1. */
      run: number;
      /** Events of the first decision that the current code does not make. */
      events: DecidedEvent[];
      /** The replayer's message. */
      problem: string;
    };

export interface ReplayRequest {
  /** Path of the bundle of the current workflow code. */
  bundle: string;
  workflowId: string;
  /** In the order of the chain. */
  runs: readonly History[];
}

/** Replays the histories of a turn with the current workflow code. It needs no server: the history has every result. */
export async function replayRuns({ bundle, workflowId, runs }: ReplayRequest): Promise<ReplayVerdict> {
  let run = 0;
  for await (const { history, problem } of replay({ bundle, workflowId, runs })) {
    run += 1;
    if (problem === null) continue;
    const events = await firstDifference({ bundle, workflowId, history });
    return { matches: false, run, events, problem: shortened(problem) };
  }
  return { matches: true, events: runs.reduce((sum, { events }) => sum + (events?.length ?? 0), 0) };
}

/** Extracts the relevant message from the replayer's dump of its own structures. */
function shortened(problem: string): string {
  return /message: "((?:[^"\\]|\\.)*)"/.exec(problem)?.[1] ?? problem;
}

interface Replayed {
  history: History;
  /** The replayer's error; null when the code makes the decisions of the history. */
  problem: string | null;
}

const { createHook } = promiseHooks;

/**
 * Replays without two features of the SDK that take a third of the time: a timeout of 49 days on each call into workflow
 * code, for which Node starts a thread, and a stack trace of each promise, which only queries need. The SDK has no
 * setting for the second, so Node's function that it calls for it does nothing while it sets up.
 */
class ReplayWorker extends Worker {
  protected static override createWorkflowCreator(
    ...[bundle, options, logger]: Parameters<(typeof Worker)['createWorkflowCreator']>
  ) {
    const unlimited = Object.assign({}, options, { isolateExecutionTimeoutMs: undefined });
    promiseHooks.createHook = () => () => undefined;
    return super.createWorkflowCreator(bundle, unlimited, logger).finally(() => {
      promiseHooks.createHook = createHook;
    });
  }
}

/** Replays histories one after another. Takes the next one only after the result of the last one was consumed. */
async function* replay({
  bundle,
  workflowId,
  runs,
}: Omit<ReplayRequest, 'runs'> & { runs: Iterable<History> }): AsyncGenerator<Replayed> {
  let taken: History = {};
  function* histories() {
    for (const history of runs) {
      taken = history;
      yield { workflowId, history };
    }
  }
  for await (const { error } of ReplayWorker.runReplayHistories({ workflowBundle: { codePath: bundle } }, histories()))
    yield { history: taken, problem: error?.message ?? null };
}

/** Finds the shortest prefix of a history that does not replay, and returns the events of its last decision. */
async function firstDifference({
  bundle,
  workflowId,
  history,
}: Omit<ReplayRequest, 'runs'> & { history: History }): Promise<DecidedEvent[]> {
  const events = history.events ?? [];
  const ends = decisionEnds(events);
  const range = { from: 0, to: ends.length - 1 };
  const middle = () => Math.floor((range.from + range.to) / 2);
  function* prefixes() {
    while (range.from < range.to) yield { events: events.slice(0, ends[middle()]) };
  }
  for await (const { problem } of replay({ bundle, workflowId, runs: prefixes() })) {
    if (problem === null) range.from = middle() + 1;
    else range.to = middle();
  }
  const tried = events.slice(0, ends[range.to]);
  const decided = tried.findLastIndex((event) => event.workflowTaskCompletedEventAttributes);
  const commands = tried.slice(decided + 1);
  return (commands.length > 0 ? commands : tried.slice(decided)).map(describeEvent);
}

/** Returns the positions after each decision. A prefix that ends there is the history of an execution that was open. */
function decisionEnds(events: readonly HistoryEvent[]): number[] {
  const ends: number[] = [];
  for (const [index, event] of events.entries()) {
    const isOpen =
      ends.length > 0 || events.slice(0, index).some((before) => before.workflowTaskCompletedEventAttributes);
    if (isOpen && event.workflowTaskScheduledEventAttributes) ends.push(index);
  }
  return [...ends, events.length];
}

const typeNames: Record<string, string> = {
  activityTaskScheduledEventAttributes: 'ActivityTaskScheduled',
  timerStartedEventAttributes: 'TimerStarted',
  timerCanceledEventAttributes: 'TimerCanceled',
  activityTaskCancelRequestedEventAttributes: 'ActivityTaskCancelRequested',
  workflowExecutionCompletedEventAttributes: 'WorkflowExecutionCompleted',
  workflowExecutionFailedEventAttributes: 'WorkflowExecutionFailed',
  workflowExecutionCanceledEventAttributes: 'WorkflowExecutionCanceled',
  workflowExecutionContinuedAsNewEventAttributes: 'WorkflowExecutionContinuedAsNew',
  markerRecordedEventAttributes: 'MarkerRecorded',
  workflowTaskCompletedEventAttributes: 'WorkflowTaskCompleted',
};

function describeEvent(event: HistoryEvent): DecidedEvent {
  const entries = Object.entries(event).filter(([, value]) => value !== null && value !== undefined);
  const type = entries.map(([name]) => typeNames[name]).find((name) => name !== undefined) ?? 'event';
  return {
    id: Number(event.eventId ?? 0),
    type,
    subject: event.activityTaskScheduledEventAttributes?.activityType?.name ?? null,
  };
}
