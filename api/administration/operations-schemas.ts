import { z } from 'zod';
import { mostFailures } from '../../db/operations/operations.ts';
import { mostWorkers } from '../../db/operations/operator-view.ts';
import { closedQuery } from '../http/closed-object.ts';
import { wholeNumber } from '../http/page-schemas.ts';

const time = z.string().meta({ format: 'date-time' });
const msOrNull = z.number().nullable().meta({ description: 'Milliseconds; null: there were none.' });
const count = z.number().int();

/** Maximum number of buckets in a series, including the partial ones at both ends. */
export const mostBuckets = 102;

/** Query of `GET /v1/operations`. */
export const operationsQuerySchema = closedQuery({
  hours: wholeNumber(1, 2_160).default(24),
});

const percentilesSchema = z.object({ count, p50Ms: msOrNull, p95Ms: msOrNull });

export const operationsSchema = z.object({
  from: time,
  to: time,
  bucketSeconds: count.meta({ description: 'Length of the steps of each series; the first and the last may be cut.' }),
  throughput: z
    .array(z.object({ at: time, created: count, completed: count, failed: count }))
    .max(mostBuckets)
    .meta({ description: 'Turns of jobs: those that began, and how those that ended did.' }),
  failures: z.array(z.object({ category: z.string(), title: z.string(), count })).max(mostFailures),
  queue: z.object({
    waiting: count.meta({ description: 'Jobs that wait for a worker.' }),
    oldestSeconds: z.number().nullable(),
    active: count,
  }),
  workerCount: count.meta({
    description: 'Worker processes that reported in the last 10 minutes; one that runs reports every 5 seconds.',
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
    .max(mostWorkers)
    .nullable()
    .meta({
      description:
        'The same, one by one. null: the machines are shown only to the organizations that the operator names (DOCKET_OPERATOR_ORGANIZATIONS), or to the only one.',
    }),
  latency: z.object({
    jobs: percentilesSchema.meta({ description: 'From the beginning of a turn to its end.' }),
    model: percentilesSchema.meta({ description: 'Of one call of the model for a job.' }),
    answers: percentilesSchema.extend({ firstTokenP50Ms: msOrNull }),
    series: z
      .array(
        z.object({ at: time, jobP50Ms: msOrNull, jobP95Ms: msOrNull, answerP50Ms: msOrNull, answerP95Ms: msOrNull }),
      )
      .max(mostBuckets),
  }),
  cost: z.array(z.object({ at: time, costUsd: z.number(), inputTokens: count, outputTokens: count })).max(mostBuckets),
  answers: z.array(z.object({ at: time, answered: count, unanswered: count })).max(mostBuckets),
});
export type PublicOperations = z.infer<typeof operationsSchema>;
