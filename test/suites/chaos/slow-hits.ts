import { Client, Connection } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { jobWorkflowId } from '../../../workflows/contract/messages.ts';
import type { TemporalNamespace } from './checks/check-executions.ts';
import { turns, type Recovery } from './hit-jobs.ts';

interface TimedEvent {
  atMs: number;
  name: string;
}

// temporal.api.enums.v1.EventType
const eventNames = new Map([
  [5, 'task scheduled'],
  [6, 'task begun'],
  [7, 'task done'],
  [8, 'task timed out'],
  [9, 'task failed'],
  [10, 'activity scheduled'],
  [11, 'activity begun'],
  [12, 'activity done'],
  [13, 'activity failed'],
  [14, 'activity timed out'],
]);

/**
 * Temporal’s view of each recovery, with seconds since the kill: the cause of a wait precedes the longest step. The
 * attempts of an activity that ran into nothing are a number only, written when the last one ended.
 */
export async function describeRecoveries(
  temporal: TemporalNamespace,
  recoveries: readonly Recovery[],
): Promise<string[]> {
  const connection = await Connection.connect({ address: temporal.temporalAddress });
  try {
    const { workflow } = new Client({ connection, namespace: temporal.namespace });
    return await Promise.all(
      recoveries.map(async ({ id, atMs, tookMs }) => {
        const events = await eventsOf(workflow, id);
        const during = events.filter((event) => event.atMs >= atMs && event.atMs <= atMs + tookMs);
        const course = [lastBefore(events, atMs), ...during].filter((event) => event !== undefined);
        const said = course.map((event) => `${seconds(event.atMs - atMs)} ${event.name}`);
        return `${seconds(tookMs)} s ${id}: ${said.join(', ')}`;
      }),
    );
  } finally {
    await connection.close();
  }
}

async function eventsOf(workflow: Client['workflow'], jobId: string): Promise<TimedEvent[]> {
  const histories = turns.map((turn) => workflow.getHandle(jobWorkflowId(jobId, turn)).fetchHistory());
  // most jobs have one turn
  const events = (await Promise.allSettled(histories)).flatMap((one) =>
    one.status === 'fulfilled' ? (one.value.events ?? []) : [],
  );
  return events.flatMap((event) => {
    const { eventType, eventTime, activityTaskScheduledEventAttributes: scheduled } = event;
    const name = eventNames.get(Number(eventType));
    if (name === undefined) return [];
    const atMs = Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6;
    const activity = scheduled?.activityType?.name;
    return [{ atMs, name: `${name}${activity == null ? '' : ` (${activity})`}${attemptsOf(event)}` }];
  });
}

/** The event of an ended attempt says how the one before it ended. */
function attemptsOf({ activityTaskStartedEventAttributes: begun }: temporal.api.history.v1.IHistoryEvent): string {
  const attempt = begun?.attempt ?? 1;
  return attempt > 1 ? ` (attempt ${attempt}, before it: ${begun?.lastFailure?.message ?? 'nothing said'})` : '';
}

function lastBefore(events: TimedEvent[], atMs: number): TimedEvent | undefined {
  return events.findLast((event) => event.atMs < atMs);
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
