import type { MeasuredDurations, NamedFigures, Operations } from '../../db/operations/operations.ts';
import type { OperatorView } from '../../db/operations/operator-view.ts';
import { failureOf } from '../../workflows/contract/failures.ts';
import { maxBuckets, type PublicOperations } from './operations-schemas.ts';
import type { Usage, UsedDay } from '../../db/organizations/usage.ts';
import type { PublicUsage } from './usage-schemas.ts';

/** Returns the figures as series without gaps: a bucket without activity contains zeros. */
export function presentOperations(
  { from, to, ...read }: Operations,
  { bucketSeconds, workers }: { bucketSeconds: number; workers: Awaited<ReturnType<OperatorView['workers']>> },
): PublicOperations {
  const times = bucketsOf({ from, to, bucketSeconds });
  const series = new Map(read.series.map((point) => [point.at.toISOString(), point]));
  const durations = new Map(read.durations.map((row) => [`${row.measure} ${row.at?.toISOString() ?? ''}`, row]));
  const durationsOf = (measure: MeasuredDurations['measure'], at = '') => {
    const { count = 0, p50Ms = null, p95Ms = null } = durations.get(`${measure} ${at}`) ?? {};
    return { count, p50Ms, p95Ms };
  };
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    bucketSeconds,
    throughput: times.map((at) => {
      const { created = 0, completed = 0, failed = 0, cancelled = 0 } = series.get(at) ?? {};
      return { at, created, completed, failed, cancelled };
    }),
    failures: read.failures.map(({ category, count }) => ({ category, title: failureOf(category).title, count })),
    models: read.models.map(({ id: model, ...figures }) => ({ model, ...presentNamed(figures) })),
    projects: read.projects.map(({ id: projectId, name, ...figures }) => ({
      projectId,
      name,
      ...presentNamed(figures),
    })),
    queue: {
      waiting: read.queue.waiting,
      oldestSeconds: read.queue.oldestSeconds,
      active: read.queue.active,
    },
    workerCount: workers.count,
    workerSeenAt: workers.seenAt?.toISOString() ?? null,
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
      jobs: durationsOf('turn'),
      model: durationsOf('model'),
      answers: { ...durationsOf('answer'), firstTokenP50Ms: durationsOf('firstToken').p50Ms },
      series: times.map((at) => {
        const [job, answer] = [durationsOf('turn', at), durationsOf('answer', at)];
        return { at, jobP50Ms: job.p50Ms, jobP95Ms: job.p95Ms, answerP50Ms: answer.p50Ms, answerP95Ms: answer.p95Ms };
      }),
    },
    cost: times.map((at) => {
      const { costMicros = 0, inputTokens = 0, outputTokens = 0 } = series.get(at) ?? {};
      const { cachedTokens: cachedInputTokens = 0, cacheWriteTokens = 0 } = series.get(at) ?? {};
      const freshInputTokens = inputTokens - cachedInputTokens - cacheWriteTokens;
      const input = { inputTokens, cachedInputTokens, cacheWriteTokens, freshInputTokens };
      return { at, costUsd: costMicros / 1e6, ...input, outputTokens };
    }),
    answers: times.map((at) => {
      const { answered = 0, unanswered = 0 } = series.get(at) ?? {};
      return { at, answered, unanswered };
    }),
  };
}

function presentNamed({ completed, failed, cancelled, costMicros }: Omit<NamedFigures, 'id'>) {
  return { completed, failed, cancelled, costUsd: costMicros / 1e6 };
}

const bucketLengths = [60, 300, 900, 3_600, 21_600, 86_400];

/** Returns the bucket length, in seconds, that keeps a series within `maxBuckets`. */
export function bucketSecondsOf(hours: number): number {
  return bucketLengths.find((seconds) => (hours * 3_600) / seconds <= maxBuckets - 2) ?? 86_400;
}

function bucketsOf({ from, to, bucketSeconds }: { from: Date; to: Date; bucketSeconds: number }): string[] {
  const length = bucketSeconds * 1_000;
  const first = Math.floor(from.getTime() / length) * length;
  const count = Math.floor((to.getTime() - first) / length) + 1;
  return Array.from({ length: count }, (_, position) => new Date(first + position * length).toISOString());
}

interface Limits {
  assistantPerHour: number;
  /** Daily budget, in millionths of a US dollar. A project's own budget never exceeds it. */
  dayMicros: number | null;
}

/** Returns usage and limits as series without gaps: a day without activity contains zeros. */
export function presentUsage({ days, keys, organization, projects }: Usage, limits: Limits): PublicUsage {
  const whole = (used: UsedDay[]) => {
    const known = new Map(used.map((one) => [one.day, one]));
    return days.map((day) => {
      const { requests = 0, refused = 0, busiestHour = 0 } = known.get(day) ?? {};
      return { day, requests, refused, busiestHour };
    });
  };
  return {
    assistant: {
      limitPerHour: limits.assistantPerHour,
      keys: keys.map(({ id, name, isRevoked, days }) => ({ id, name, isRevoked, days: whole(days) })),
      organization: whole(organization),
    },
    projects: projects.map(({ id, name, budgetMicros, days: spent }) => {
      const known = new Map(spent.map(({ day, costMicros }) => [day, costMicros]));
      const micros = lesserOf(budgetMicros, limits.dayMicros);
      return {
        id,
        name,
        budgetUsd: micros === null ? null : micros / 1e6,
        days: days.map((day) => ({ day, costUsd: (known.get(day) ?? 0) / 1e6 })),
      };
    }),
  };
}

function lesserOf(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
