import { defaultPayloadConverter } from '@temporalio/common';
import { z } from 'zod';
import type { History } from '../../db/jobs/stored-history.ts';

type HistoryEvent = NonNullable<History['events']>[number];

/** What Temporal recorded of an activity of a step. */
export interface ActivityTimes {
  scheduledMs: number;
  /** When the last attempt began; null when none did. */
  startedMs: number | null;
  endedMs: number | null;
  attempts: number;
  /** Why the attempt before the last one ended. */
  lastFailure: string | null;
}

export interface StepTimes {
  model: ActivityTimes | null;
  tools: ActivityTimes | null;
}

const inputSchema = z.object({ step: z.number() });

/** When the activities of a turn's steps ran, by step. */
export function stepTimesOf(runs: readonly History[]): Map<number, StepTimes> {
  const steps = new Map<number, StepTimes>();
  for (const { events } of runs) {
    const open = new Map<string, ActivityTimes>();
    for (const event of events ?? []) {
      noteSchedule(event, steps, open);
      noteProgress(event, open);
    }
  }
  return steps;
}

function noteSchedule(event: HistoryEvent, steps: Map<number, StepTimes>, open: Map<string, ActivityTimes>): void {
  const { activityTaskScheduledEventAttributes: scheduled, eventId } = event;
  const name = scheduled?.activityType?.name;
  const payload = scheduled?.input?.payloads?.[0];
  if (payload === undefined || (name !== 'callModel' && name !== 'runTools')) return;
  const input = inputSchema.safeParse(jsonOf(payload));
  if (!input.success) return;
  const times = { scheduledMs: msOf(event), startedMs: null, endedMs: null, attempts: 0, lastFailure: null };
  const { step } = input.data;
  const known = steps.get(step) ?? { model: null, tools: null };
  steps.set(step, name === 'callModel' ? { ...known, model: times } : { ...known, tools: times });
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
  times.startedMs = msOf(event);
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
    return null; // of another encoding
  }
}

function msOf({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1000 + Math.floor((eventTime?.nanos ?? 0) / 1_000_000);
}
