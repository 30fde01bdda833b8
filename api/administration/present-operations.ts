import type { Operations } from '../../db/operations/operations.ts';
import type { OperatorView } from '../../db/operations/operator-view.ts';
import { failureOf } from '../../workflows/contract/failures.ts';
import { mostBuckets, type PublicOperations } from './operations-schemas.ts';

/** Returns the figures as series without gaps: a bucket without activity contains zeros. */
export function presentOperations(
  { from, to, ...read }: Operations,
  { bucketSeconds, workers }: { bucketSeconds: number; workers: Awaited<ReturnType<OperatorView['workers']>> },
): PublicOperations {
  const times = bucketsOf({ from, to, bucketSeconds });
  const turnsAt = byTime(read.turns);
  const answersAt = byTime(read.answers);
  const costAt = byTime(read.cost);
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    bucketSeconds,
    throughput: times.map((at) => {
      const { created = 0, completed = 0, failed = 0 } = turnsAt.get(at) ?? {};
      return { at, created, completed, failed };
    }),
    failures: read.failures.map(({ category, count }) => ({ category, title: failureOf(category).title, count })),
    queue: {
      waiting: read.queue.waiting,
      oldestSeconds: read.queue.oldestSeconds,
      active: read.queue.active,
    },
    workerCount: workers.count,
    workers:
      workers.rows?.map(({ id, host, pid, version, activeTasks, startedAt, seenAt }) => ({
        id,
        host,
        pid,
        version,
        activeTasks,
        startedAt: startedAt.toISOString(),
        seenAt: seenAt.toISOString(),
      })) ?? null,
    latency: {
      jobs: read.jobs,
      model: read.model,
      answers: read.answer,
      series: times.map((at) => ({
        at,
        jobP50Ms: turnsAt.get(at)?.p50Ms ?? null,
        jobP95Ms: turnsAt.get(at)?.p95Ms ?? null,
        answerP50Ms: answersAt.get(at)?.p50Ms ?? null,
        answerP95Ms: answersAt.get(at)?.p95Ms ?? null,
      })),
    },
    cost: times.map((at) => {
      const { costMicros = 0, inputTokens = 0, outputTokens = 0 } = costAt.get(at) ?? {};
      return { at, costUsd: costMicros / 1e6, inputTokens, outputTokens };
    }),
    answers: times.map((at) => {
      const { answered = 0, unanswered = 0 } = answersAt.get(at) ?? {};
      return { at, answered, unanswered };
    }),
  };
}

const bucketLengths = [60, 300, 900, 3_600, 21_600, 86_400];

/** Returns the bucket length, in seconds, that keeps a series within `mostBuckets`. */
export function bucketSecondsOf(hours: number): number {
  return bucketLengths.find((seconds) => (hours * 3_600) / seconds <= mostBuckets - 2) ?? 86_400;
}

function bucketsOf({ from, to, bucketSeconds }: { from: Date; to: Date; bucketSeconds: number }): string[] {
  const length = bucketSeconds * 1_000;
  const first = Math.floor(from.getTime() / length) * length;
  const count = Math.floor((to.getTime() - first) / length) + 1;
  return Array.from({ length: count }, (_, position) => new Date(first + position * length).toISOString());
}

function byTime<Row extends { at: Date }>(rows: Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [row.at.toISOString(), row]));
}
