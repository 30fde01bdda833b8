import { queryOptions } from '@tanstack/react-query';
import { answerOf, api } from '../../http/client.ts';
import type { JobRef } from '../job-queries.ts';

/** Temporal's record of a step's last attempt. */
export interface RecordedAttempt {
  attempt: number;
  /** Process and host of the worker, such as `12510@vm`. */
  worker: string;
  /** Why the attempt before failed; null if it was the first one, or if the reason is encrypted. */
  problem: string | null;
}

/** A turn with more runs is thousands of steps long. */
const maxRuns = 40;
const stepActivities = ['runStep', 'callModel'];

/** Returns the query for the last attempt of a step, counted from 0 in its turn, which must have ended. */
export function recordedAttemptQuery({ projectId, id }: JobRef, turn: number, position: number) {
  return queryOptions({
    queryKey: ['recorded-attempt', id, turn, position],
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    queryFn: async ({ signal }): Promise<RecordedAttempt | null> => {
      let before = 0;
      for (let run = 1; run <= maxRuns; run += 1) {
        const history: Record<string, unknown> = await answerOf(
          api.GET('/v2/agent/{projectId}/job/{id}/history', {
            params: { path: { projectId, id }, query: { turn, run } },
            signal,
          }),
        );
        const attempts = recordedAttempts(history);
        const found = attempts[position - before];
        if (found !== undefined) return found;
        before += attempts.length;
      }
      return null;
    },
  });
}

/** Returns the last attempt of each step in a history, in order. A step that never began has no worker. */
export function recordedAttempts(history: Record<string, unknown>): RecordedAttempt[] {
  const attempts = new Map<string, RecordedAttempt>();
  const events = Array.isArray(history['events']) ? history['events'].map(fieldsOf) : [];
  for (const event of events) {
    const scheduled = fieldsOf(event['activityTaskScheduledEventAttributes']);
    if (stepActivities.includes(textOf(fieldsOf(scheduled['activityType'])['name'])))
      attempts.set(textOf(event['eventId']), { attempt: 0, worker: '', problem: null });
    const started = fieldsOf(event['activityTaskStartedEventAttributes']);
    const known = attempts.get(textOf(started['scheduledEventId']));
    if (known === undefined) continue;
    known.attempt = Number(started['attempt'] ?? 1);
    known.worker = textOf(started['identity']);
    known.problem = problemOf(fieldsOf(started['lastFailure']));
  }
  return [...attempts.values()];
}

function problemOf(failure: Record<string, unknown>): string | null {
  const timeout = textOf(fieldsOf(failure['timeoutFailureInfo'])['timeoutType']);
  if (timeout.includes('HEARTBEAT')) return 'The worker stopped sending heartbeats.';
  if (timeout !== '') return 'The attempt timed out.';
  const message = textOf(failure['message']);
  return message === '' || message === 'Encoded failure' ? null : message;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}
