import type { Pool } from 'pg';
import type { Owner } from '../caller.ts';
import { readWithin } from '../pool.ts';
import { onlyRow } from '../rows.ts';

export interface OperationsQuery {
  hours: number;
  bucketSeconds: number;
}

interface Point {
  at: Date;
}

export interface Percentiles {
  count: number;
  p50Ms: number | null;
  p95Ms: number | null;
}

export interface Operations {
  from: Date;
  to: Date;
  turns: (Point & {
    created: number;
    completed: number;
    failed: number;
    cancelled: number;
    p50Ms: number | null;
    p95Ms: number | null;
  })[];
  failures: { category: string; count: number }[];
  queue: { waiting: number; oldestSeconds: number | null; active: number };
  jobs: Percentiles;
  model: Percentiles;
  cost: (Point & { costMicros: number; inputTokens: number; outputTokens: number })[];
  answers: (Point & { answered: number; unanswered: number; p50Ms: number | null; p95Ms: number | null })[];
  answer: Percentiles & { firstTokenP50Ms: number | null };
}

const percentiles = (value: string) => `
  percentile_cont(0.5) within group (order by ${value})::float8 as "p50Ms",
  percentile_cont(0.95) within group (order by ${value})::float8 as "p95Ms"`;

const ms = (from: string, to: string) => `extract(epoch from ${to} - ${from}) * 1000`;
/** Start of the bucket that contains a time. */
const bucket = (time: string) => `date_bin($3::integer * interval '1 second', ${time}, 'epoch'::timestamptz)`;
const since = `now() - $2::integer * interval '1 hour'`;

/** Jobs that changed in the period; everything that happened to a job then belongs to one of them. */
const changedJobs = `select id from jobs where organization_id = $1 and updated_at > ${since}`;

const turnsStatement = `
  with turns as materialized (
    select job_turns.created_at, job_turns.ended_at, case
             -- a job keeps the category of its newest turn only
             when job_turns.status = 'failed' and jobs.turn = job_turns.turn and failure_category = 'cancelled' then 'cancelled'
             else job_turns.status end as ending
    from job_turns join jobs on jobs.id = job_id where job_id in (${changedJobs})
  ), happened as (
    select ${bucket('created_at')} as at, 1 as created, null as ending, null::float8 as ms
    from turns where created_at > ${since}
    union all
    select ${bucket('ended_at')}, 0, ending, ${ms('created_at', 'ended_at')}
    from turns where ended_at > ${since}
  )
  select at, sum(created)::integer as created, ${['completed', 'failed', 'cancelled']
    .map((ending) => `(count(*) filter (where ending = '${ending}'))::integer as ${ending}`)
    .join(', ')},
         ${percentiles('ms')}
  from happened group by at order by at`;

/** Counts failures by category. */
export const mostFailures = 50;

const failuresStatement = `
  select failure_category as category, count(*)::integer as count from jobs
  where organization_id = $1 and updated_at > ${since} and ended_at > ${since} and failure_category is not null
  group by failure_category order by count(*) desc, failure_category limit ${mostFailures}`;

const queueStatement = `
  select count(*) filter (where phase = 'queued')::integer as waiting, count(*)::integer as active,
         extract(epoch from now() - min(updated_at) filter (where phase = 'queued'))::float8 as "oldestSeconds"
  from jobs where organization_id = $1 and status = 'active'`;

const jobsStatement = `
  select count(*)::integer as count, ${percentiles(ms('created_at', 'ended_at'))}
  from job_turns where job_id in (${changedJobs}) and ended_at > ${since}`;

const modelStatement = `
  select count(*)::integer as count, ${percentiles(ms('started_at', 'answered_at'))}
  from job_steps where job_id in (${changedJobs}) and answered_at > ${since}`;

const costStatement = `
  select ${bucket('answered_at')} as at, coalesce(sum(cost_micros), 0)::float8 as "costMicros",
         sum(input_tokens)::float8 as "inputTokens", sum(output_tokens)::float8 as "outputTokens"
  from job_steps where job_id in (${changedJobs}) and answered_at > ${since}
  group by 1 order by 1`;

const ofReaders = `
  from thread_messages join threads on threads.id = thread_id
  where organization_id = $1 and threads.updated_at > ${since} and role = 'assistant' and ending = 'finished'
    and thread_messages.created_at > ${since}`;

const answersStatement = `
  select ${bucket('thread_messages.created_at')} as at, count(*) filter (where answered)::integer as answered,
         count(*) filter (where not answered)::integer as unanswered, ${percentiles('duration_ms')}
  ${ofReaders} group by 1 order by 1`;

const answerStatement = `
  select count(*)::integer as count, ${percentiles('duration_ms')},
         percentile_cont(0.5) within group (order by first_token_ms)::float8 as "firstTokenP50Ms"
  ${ofReaders}`;

export interface OperationsStore {
  /**
   * Returns what happened in an organization in the last hours, in buckets that start at whole multiples of their
   * length.
   */
  read(owner: Owner, query: OperationsQuery): Promise<Operations>;
}

/** Creates the store of operational figures, which come from data that is stored anyway. */
export function createOperationsStore(pool: Pool): OperationsStore {
  return {
    async read({ organizationId }, { hours, bucketSeconds }) {
      return readWithin(pool, 'report', async (client) => {
        const all = async <Row extends object>(statement: string) => {
          const values = [organizationId, hours, bucketSeconds].slice(0, highestParameter(statement));
          return (await client.query<Row>(statement, values)).rows;
        };
        const one = async <Row extends object>(statement: string, none: Row) => (await all<Row>(statement))[0] ?? none;
        const nothing: Percentiles = { count: 0, p50Ms: null, p95Ms: null };
        const { rows } = await client.query<{ from: Date; to: Date }>(
          `select now() - $1::integer * interval '1 hour' as from, now() as to`,
          [hours],
        );
        return {
          ...onlyRow(rows),
          turns: await all<Operations['turns'][number]>(turnsStatement),
          failures: await all<Operations['failures'][number]>(failuresStatement),
          queue: await one(queueStatement, { waiting: 0, active: 0, oldestSeconds: null }),
          jobs: await one(jobsStatement, nothing),
          model: await one(modelStatement, nothing),
          cost: await all<Operations['cost'][number]>(costStatement),
          answers: await all<Operations['answers'][number]>(answersStatement),
          answer: await one(answerStatement, { ...nothing, firstTokenP50Ms: null }),
        };
      });
    },
  };
}

/** PostgreSQL accepts only the values that a statement names. */
function highestParameter(statement: string): number {
  return Math.max(...[...statement.matchAll(/\$(\d)/g)].map(([, number]) => Number(number)));
}
