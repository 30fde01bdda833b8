import type { Pool } from 'pg';
import type { StepRef } from '../../workflows/contract/job.ts';

/** How long a lease lasts without renewal: shorter than Temporal takes to begin another attempt. */
export const modelCallLeaseMs = 1_500;

export interface ModelCallLeases {
  /**
   * Says, directly before the request is sent, what the call costs if its answer never comes. A call of the step that was under
   * way before counts as lost. False: another attempt has the step; nothing may be sent.
   */
  begin(call: StepRef & { fence: number; micros: number }): Promise<boolean>;
  /** Says that the call has ended without an answer, and what it cost. */
  lose(call: StepRef & { fence: number; micros: number }): Promise<void>;
  /** Counts the calls that a killed worker left behind in a turn that has ended since: no further attempt does. */
  loseAbandoned(): Promise<void>;
  /** Whether an attempt holds the lease of the step. */
  isInFlight(ref: StepRef): Promise<boolean>;
  /** Renews the leases of this process. */
  renew(refs: StepRef[]): Promise<void>;
  /** Says that an attempt has stopped; nothing when a newer one has begun. */
  release(held: StepRef & { fence: number }): Promise<void>;
}

/** Counts what was lost into the jobs and their projects, as an answer that is stored does. */
const countLost = `
  counted as (
    update jobs set cost_micros = cost_micros + lost
    from (select job_id, sum(lost)::bigint as lost from held group by job_id) as calls
    where jobs.id = job_id and lost > 0
    returning project_id, lost
  ), spent as (
    insert into project_spending as spending (project_id, day, cost_micros)
    select project_id, (now() at time zone 'utc')::date, sum(lost) from counted group by project_id
    on conflict (project_id, day) do update set cost_micros = spending.cost_micros + excluded.cost_micros
  )`;

/** Leases of model calls in flight. An attempt that Temporal lost sight of goes on, and the next one waits for its answer. */
export function createModelCallLeases(pool: Pool): ModelCallLeases {
  return {
    async begin({ jobId, turn, step, fence, micros }) {
      const { rowCount } = await pool.query({
        name: 'begin-call',
        text: `
          with held as (
            select job_id, asked_micros as lost from job_steps
            where job_id = $1 and turn = $2 and step = $3 and fence = $4 for update
          ), begun as (
            update job_steps set asked_micros = $5, lost_micros = lost_micros + lost
            from held where job_steps.job_id = $1 and turn = $2 and step = $3
          ), ${countLost}
          select from held`,
        values: [jobId, turn, step, fence, micros],
      });
      return rowCount === 1;
    },

    async lose({ jobId, turn, step, fence, micros }) {
      await pool.query({
        name: 'lose-call',
        text: `
          with held as (
            update job_steps set asked_micros = 0, lost_micros = lost_micros + $5
            where job_id = $1 and turn = $2 and step = $3 and fence = $4 and asked_micros > 0
            returning job_id, $5::bigint as lost
          ), ${countLost}
          select from held`,
        values: [jobId, turn, step, fence, micros],
      });
    },

    async loseAbandoned() {
      // an attempt that still runs renews its lease and settles its own call
      await pool.query(`
        with abandoned as (
          select job_id, turn, step, asked_micros as lost from job_steps
          where asked_micros > 0 and (asked_until is null or asked_until < now() - interval '1 minute')
            and not exists (
              select from jobs where id = job_id and jobs.turn = job_steps.turn and jobs.status = 'active'
            )
          limit 100 for update skip locked
        ), held as (
          update job_steps as step set asked_micros = 0, lost_micros = lost_micros + lost from abandoned
          where (step.job_id, step.turn, step.step) = (abandoned.job_id, abandoned.turn, abandoned.step)
          returning step.job_id, lost
        ), ${countLost}
        select from held`);
    },

    async isInFlight({ jobId, turn, step }) {
      const { rowCount } = await pool.query(
        `select from job_steps
         where job_id = $1 and turn = $2 and step = $3 and response is null and asked_until > now()`,
        [jobId, turn, step],
      );
      return rowCount === 1;
    },

    async renew(refs) {
      await pool.query({
        name: 'renew-model-calls',
        text: `
          update job_steps set asked_until = now() + $4::float8 * interval '1 millisecond'
          from unnest($1::text[], $2::integer[], $3::integer[]) as asked (job_id, turn, step)
          where job_steps.job_id = asked.job_id and job_steps.turn = asked.turn and job_steps.step = asked.step
            and response is null`,
        values: [
          refs.map(({ jobId }) => jobId),
          refs.map(({ turn }) => turn),
          refs.map(({ step }) => step),
          modelCallLeaseMs,
        ],
      });
    },

    async release({ jobId, turn, step, fence }) {
      await pool.query(
        'update job_steps set asked_until = null where job_id = $1 and turn = $2 and step = $3 and fence = $4',
        [jobId, turn, step, fence],
      );
    },
  };
}
