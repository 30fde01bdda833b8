import { z } from 'zod';
import { maxFailures, maxNamed } from '../../db/operations/operations.ts';
import { maxWorkers } from '../../db/operations/operator-view.ts';
import { closedQuery } from '../http/closed-object.ts';
import { wholeNumber } from '../http/page-schemas.ts';
import { time, timeOrNull } from '../../lib/time-schemas.ts';

const msOrNull = z.number().nullable().meta({ description: 'Milliseconds; null if there were none.' });
const count = z.number().int();

/** Maximum number of buckets in a series, including the partial ones at both ends. */
export const maxBuckets = 102;

/** Query of `GET /v1/operations`. */
export const operationsQuerySchema = closedQuery({
  hours: wholeNumber(1, 2_160).default(24),
});

const percentilesSchema = z.object({ count, p50Ms: msOrNull, p95Ms: msOrNull });

const namedFigures = {
  completed: count,
  failed: count,
  cancelled: count,
  costUsd: z.number().meta({ description: 'Cost of model calls.' }),
};

export const operationsSchema = z.object({
  from: time,
  to: time,
  bucketSeconds: count.meta({
    description: 'Interval between the points of each series; the first and the last may be partial.',
  }),
  throughput: z
    .array(z.object({ at: time, created: count, completed: count, failed: count, cancelled: count }))
    .max(maxBuckets)
    .meta({ description: 'Turns of jobs that started, completed, failed and were cancelled in each interval.' }),
  failures: z.array(z.object({ category: z.string(), title: z.string(), count })).max(maxFailures),
  models: z
    .array(z.object({ model: z.string(), ...namedFigures }))
    .max(maxNamed)
    .meta({
      description:
        'Turns that ended, by the model of their job, and the cost of its calls, including lost ones; the models with the most turns.',
    }),
  projects: z
    .array(z.object({ projectId: z.string(), name: z.string().nullable(), ...namedFigures }))
    .max(maxNamed)
    .meta({ description: 'The same by project; the name is null if the project was deleted.' }),
  queue: z.object({
    waiting: count.meta({ description: 'Jobs waiting for a worker.' }),
    oldestSeconds: z.number().nullable(),
    active: count,
  }),
  workerCount: count.meta({
    description: 'Worker processes that reported in the last 10 minutes; one that runs reports every 5 seconds.',
  }),
  workerSeenAt: timeOrNull.meta({
    description: 'When a worker last reported; null if none did in the last 10 minutes.',
  }),
  workers: z
    .array(
      z.object({
        id: z.string(),
        host: z.string(),
        pid: count,
        version: z.string(),
        activeTasks: count,
        startedAt: time,
        seenAt: time,
      }),
    )
    .max(maxWorkers)
    .nullable()
    .meta({
      description:
        'One entry per process. Null unless the operator shows the machines to this organization (DOCKET_OPERATOR_ORGANIZATIONS), or it is the only one.',
    }),
  latency: z.object({
    jobs: percentilesSchema.meta({ description: 'From the start of a turn to its end.' }),
    model: percentilesSchema.meta({ description: 'Of one model call for a job.' }),
    answers: percentilesSchema.extend({ firstTokenP50Ms: msOrNull }),
    series: z
      .array(
        z.object({ at: time, jobP50Ms: msOrNull, jobP95Ms: msOrNull, answerP50Ms: msOrNull, answerP95Ms: msOrNull }),
      )
      .max(maxBuckets),
  }),
  cost: z
    .array(
      z.object({
        at: time,
        costUsd: z.number(),
        inputTokens: count.meta({ description: 'All input: cached, written to the cache, and fresh.' }),
        cachedInputTokens: count.meta({
          description: 'Input that providers read from their caches; 0 before this was counted.',
        }),
        cacheWriteTokens: count.meta({
          description: 'Input that providers wrote to their caches; 0 before this was counted.',
        }),
        freshInputTokens: count.meta({ description: 'The other input.' }),
        outputTokens: count,
      }),
    )
    .max(maxBuckets),
  answers: z.array(z.object({ at: time, answered: count, unanswered: count })).max(maxBuckets),
});
export type PublicOperations = z.infer<typeof operationsSchema>;
