import { defaultPayloadConverter } from '@temporalio/common';
import { z } from 'zod';
import type { History } from '../../db/jobs/stored-history.ts';

type HistoryEvent = NonNullable<History['events']>[number];

/** Times and attempts of one activity of a step, from Temporal's history. */
export interface ActivityTimes {
  scheduledMs: number;
  endedMs: number | null;
  attempts: number;
  /** Failure of the attempt before the last one. */
  lastFailure: string | null;
}

const inputSchema = z.object({ step: z.number() });

/** Activities that take a step; before `runStep` there were two of them. */
const activityNames: readonly unknown[] = ['runStep', 'callModel', 'runTools'];

/** Returns the times of the activities of a turn, by step and in order. */
export function stepTimesOf(runs: readonly History[]): Map<number, ActivityTimes[]> {
  const steps = new Map<number, ActivityTimes[]>();
  for (const { events } of runs) {
    const open = new Map<string, ActivityTimes>();
    for (const event of events ?? []) {
      noteSchedule(event, steps, open);
      noteProgress(event, open);
    }
  }
  return steps;
}

function noteSchedule(
  event: HistoryEvent,
  steps: Map<number, ActivityTimes[]>,
  open: Map<string, ActivityTimes>,
): void {
  const { activityTaskScheduledEventAttributes: scheduled, eventId } = event;
  const payload = scheduled?.input?.payloads?.[0];
  if (payload === undefined || !activityNames.includes(scheduled?.activityType?.name)) return;
  const input = inputSchema.safeParse(jsonOf(payload));
  if (!input.success) return;
  const times = { scheduledMs: msOf(event), endedMs: null, attempts: 0, lastFailure: null };
  const { step } = input.data;
  steps.set(step, [...(steps.get(step) ?? []), times]);
  open.set(String(eventId), times);
}

function noteProgress(event: HistoryEvent, open: Map<string, ActivityTimes>): void {
  const started = event.activityTaskStartedEventAttributes;
  const times = open.get(String((started ?? endOf(event))?.scheduledEventId));
  if (times === undefined) return;
  if (started === null || started === undefined) {
    times.endedMs = msOf(event);
    return;
  }
  times.attempts = started.attempt ?? 1;
  times.lastFailure = started.lastFailure?.message ?? null;
}

function endOf(event: HistoryEvent) {
  return (
    event.activityTaskCompletedEventAttributes ??
    event.activityTaskFailedEventAttributes ??
    event.activityTaskTimedOutEventAttributes ??
    event.activityTaskCanceledEventAttributes
  );
}

function jsonOf(payload: Parameters<typeof defaultPayloadConverter.fromPayload>[0]): unknown {
  try {
    return defaultPayloadConverter.fromPayload(payload);
  } catch {
    return null; // in another encoding
  }
}

function msOf({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1000 + Math.floor((eventTime?.nanos ?? 0) / 1_000_000);
}
