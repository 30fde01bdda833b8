import type { Pool } from 'pg';
import { deleteInBatches } from '../delete-in-batches.ts';
import { addRollups, rollupWidths } from '../operations/rollups.ts';
import { rollUpFacts, untilLess } from '../roll-up-facts.ts';

const rowsAtOnce = 500;

/** A transaction that began before `since` may still write facts that the triggers leave out. */
const isSettled = `not exists (
  select from pg_stat_activity
  where datname = current_database() and xact_start < since and pid <> pg_backend_pid()
)`;

/** The offset keeps the planner from reading the whole table for a batch. */
const ofEach = (table: string, key: string) =>
  `lateral (select * from ${table} where ${key} = batch.id offset 0) as ${table}`;

/** Rolls up the next rows of a table: `facts` reads those of `batch` that are older than `since`. */
const addEarlierStatement = (table: 'jobs' | 'threads', progress: string, facts: string) => `
  with start as materialized (
    select since, ${progress} as after_id from operation_start
    where ${progress} is not null and ${isSettled} for update skip locked
  ), batch as materialized (
    select since, rows.* from start, lateral (
      select * from ${table} where id > after_id order by id limit ${rowsAtOnce}
    ) as rows
  ), earlier as (${facts}), added as (${addRollups('earlier')}), moved as (
    update operation_start set ${progress} = (select max(id) from batch) from start
  )
  select count(*)::integer as count from batch`;

const earlierStatements = [
  addEarlierStatement(
    'jobs',
    'after_job',
    `
      select organization_id, job_turns.created_at as at, 'created' as kind, null as category, null::float8 as ms,
             null::float8 as first_token_ms, null::bigint as input_tokens, null::bigint as cached_tokens,
             null::bigint as cache_write_tokens, null::bigint as output_tokens, null::bigint as cost_micros, batch.model, project_id
      from batch, ${ofEach('job_turns', 'job_id')}
      where job_turns.turn >= coalesce(forked_turn, 1) and job_turns.created_at < since
      union all
      select organization_id, job_turns.ended_at, job_turns.status,
             -- a job keeps the category of its newest turn only
             case when job_turns.status = 'failed' and job_turns.turn = batch.turn then failure_category end,
             extract(epoch from job_turns.ended_at - job_turns.created_at) * 1000, null, null, null, null, null, null,
             batch.model, project_id
      from batch, ${ofEach('job_turns', 'job_id')}
      where job_turns.turn >= coalesce(forked_turn, 1) and job_turns.ended_at < since
      union all
      select organization_id, answered_at, 'step', null, extract(epoch from answered_at - started_at) * 1000, null,
             job_steps.input_tokens, job_steps.cached_tokens, job_steps.cache_write_tokens, job_steps.output_tokens, coalesce(job_steps.cost_micros, 0),
             coalesce(job_steps.model, batch.model), project_id
      from batch, ${ofEach('job_steps', 'job_id')}
      where (job_steps.turn, step) > (coalesce(forked_turn, 0), coalesce(forked_step, 0)) and answered_at < since`,
  ),
  addEarlierStatement(
    'threads',
    'after_thread',
    `
      select organization_id, thread_messages.created_at as at, case when answered then 'answered' else 'unanswered' end as kind,
             null as category, duration_ms::float8 as ms, thread_messages.first_token_ms::float8, null::bigint as input_tokens,
             null::bigint as cached_tokens, null::bigint as cache_write_tokens, null::bigint as output_tokens, null::bigint as cost_micros, null as model, null as project_id
      from batch, ${ofEach('thread_messages', 'thread_id')}
      where role = 'assistant' and ending = 'finished' and thread_messages.created_at < since`,
  ),
];

/** Creates the keeper of the rollups that `GET /v1/operations` reads. Any number of processes may keep them at once. */
export function createOperationRollups(pool: Pool) {
  return {
    /** Rolls up what has happened since the last time; a fact is counted by the transaction that deletes it. */
    add: (): Promise<void> => rollUpFacts(pool, 'operation_facts', `added as (${addRollups('taken')})`),

    /** Rolls up what happened before the figures were kept, once; a batch and its progress are one transaction. */
    async addEarlier(): Promise<void> {
      for (const statement of earlierStatements) await untilLess(pool, statement, 1);
    },

    /** Deletes rollups that no query reads any more. */
    async sweep(): Promise<void> {
      for (const { seconds, kept } of rollupWidths)
        await deleteInBatches(
          pool,
          `delete from operation_rollups where ctid = any(array(
             select ctid from operation_rollups where seconds = ${seconds} and at < now() - interval '${kept}' - interval '1 hour'
             order by at limit $1 for update skip locked
           ))`,
        );
    },
  };
}
