import { ReplayWorker } from './replay-worker.ts';
import type { History } from '../../db/jobs/stored-history.ts';

type HistoryEvent = NonNullable<History['events']>[number];

export interface DecidedEvent {
  id: number;
  type: string;
  /** The activity that it names. */
  subject: string | null;
}

/** Whether today's workflow code takes the decisions that a history holds. */
export type ReplayVerdict =
  | { matches: true; events: number }
  | {
      matches: false;
      /** The run of the chain, counted from 1. */
      run: number;
      /** The first decision that today's code does not take: its events. */
      events: DecidedEvent[];
      /** What the replayer says. */
      problem: string;
    };

export interface ReplayRequest {
  /** Path of the bundle of today's workflow code. */
  bundle: string;
  workflowId: string;
  /** In the order of the chain. */
  runs: readonly History[];
}

/** Runs today's workflow code over the histories of a turn. It needs no server: every answer is in the history. */
export async function replayRuns({ bundle, workflowId, runs }: ReplayRequest): Promise<ReplayVerdict> {
  const problems = await problemsOf({ bundle, workflowId, runs });
  const index = problems.findIndex((problem) => problem !== null);
  const [history, problem] = [runs[index], problems[index]];
  if (history === undefined || problem === null || problem === undefined) {
    return { matches: true, events: runs.reduce((sum, { events }) => sum + (events?.length ?? 0), 0) };
  }
  const events = await firstDifference({ bundle, workflowId, history });
  return { matches: false, run: index + 1, events, problem: shortened(problem) };
}

/** The replayer quotes its own structures around the sentence that counts. */
function shortened(problem: string): string {
  return /message: "((?:[^"\\]|\\.)*)"/.exec(problem)?.[1] ?? problem;
}

/** What is wrong with each run; null where nothing is. */
async function problemsOf({ bundle, workflowId, runs }: ReplayRequest): Promise<(string | null)[]> {
  const options = { workflowBundle: { codePath: bundle } };
  const problems: (string | null)[] = [];
  const histories = runs.map((history) => ({ workflowId, history }));
  for await (const { error } of ReplayWorker.runReplayHistories(options, histories))
    problems.push(error?.message ?? null);
  return problems;
}

/** Looks for the shortest beginning of a history that does not replay: it ends with what differs. */
async function firstDifference({
  bundle,
  workflowId,
  history,
}: {
  bundle: string;
  workflowId: string;
  history: History;
}) {
  const events = history.events ?? [];
  const ends = decisionEnds(events);
  let good = 0;
  let bad = ends.length - 1;
  while (good < bad) {
    const middle = Math.floor((good + bad) / 2);
    const runs = [{ events: events.slice(0, ends[middle]) }];
    const [problem] = await problemsOf({ bundle, workflowId, runs });
    if (problem === null) good = middle + 1;
    else bad = middle;
  }
  const tried = events.slice(0, ends[bad]);
  const decided = tried.findLastIndex((event) => event.workflowTaskCompletedEventAttributes);
  const commands = tried.slice(decided + 1);
  return (commands.length > 0 ? commands : tried.slice(decided)).map(describeEvent);
}

/** Behind the last event of each decision: a beginning of a history that ends there is one that an open execution has. */
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
