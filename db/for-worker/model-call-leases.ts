import type { Pool, PoolClient } from 'pg';
import type { StepRef } from '../../workflows/contract/job.ts';
import { ofActiveTurn } from '../jobs/job-statements.ts';
import { withTransaction } from '../pool.ts';
import { refusalOf, type CallLimit, type Refusal } from './budgets.ts';

/** Duration of a lease without renewal; shorter than Temporal takes to start another attempt. */
export const modelCallLeaseMs = 1_500;

/** A call that is about to be sent. */
interface NewCall extends StepRef {
  fence: number;
  /** Its cost if the answer never arrives. */
  micros: number;
  /** Absent or null when no budget applies. */
  limit?: CallLimit | null;
}

/**
 * `begun`: the call may be sent. `superseded`: another attempt has claimed the step, the answer of an earlier attempt has
 * been stored since the claim, or the turn has ended.
 */
export type CallStart = { kind: 'begun' | 'superseded' } | Refusal;

/** Adds the cost of lost calls to the jobs and their projects, as storing an answer does. */
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

/** Frees what the lost calls have reserved: it would keep calls of other jobs waiting although nothing is in flight. */
const freeLost = `
  freed as (
    delete from cost_reservations as reserved using held
    where (reserved.job_id, reserved.turn, reserved.step) = (held.job_id, held.turn, held.step)
  )`;

/** Charges the calls in flight of the steps that a query locks as lost. */
const loseAsked = (steps: string) => `
  with asked as (${steps}), held as (
    update job_steps as step set asked_micros = 0, lost_micros = lost_micros + lost from asked
    where (step.job_id, step.turn, step.step) = (asked.job_id, asked.turn, asked.step) and lost > 0
    returning step.job_id, step.turn, step.step, lost
  ), ${freeLost}, ${countLost}
  select from held`;

const claimedStep = `
  select job_id, turn, step, asked_micros as lost from job_steps
  where job_id = $1 and turn = $2 and step = $3 and fence = $4 and ${ofActiveTurn} and response is null for update`;

const beginStatement = `
  with held as (${claimedStep}), begun as (
    update job_steps
    set asked_micros = $5, lost_micros = lost_micros + lost, asked_until = now() + $8::float8 * interval '1 millisecond'
    from held where job_steps.job_id = $1 and job_steps.turn = $2 and job_steps.step = $3
  ), reserved as (
    insert into cost_reservations (job_id, turn, step, project_id, cost_micros)
    select job_id, $2, $3, $6, $7 from held where $7::bigint is not null
    on conflict (job_id, turn, step) do update set cost_micros = excluded.cost_micros
  ), ${countLost}
  select from held`;

async function lockStep(client: PoolClient, { jobId, turn, step, fence }: NewCall): Promise<boolean> {
  const { rowCount } = await client.query({ name: 'lock-step', text: claimedStep, values: [jobId, turn, step, fence] });
  return rowCount === 1;
}

async function begin(client: Pick<Pool, 'query'>, call: NewCall): Promise<CallStart> {
  const { jobId, turn, step, fence, micros, limit } = call;
  const isDaily = limit != null && (limit.budgets.dayMicros ?? limit.budgets.organizationMicros) !== null;
  const { rowCount } = await client.query({
    name: 'begin-call',
    text: beginStatement,
    values: [jobId, turn, step, fence, micros, limit?.projectId, isDaily ? limit.maxMicros : null, modelCallLeaseMs],
  });
  return { kind: rowCount === 1 ? 'begun' : 'superseded' };
}

export type ModelCallLeases = ReturnType<typeof createModelCallLeases>;

/**
 * Creates the store of leases of model calls in flight. An attempt that Temporal lost track of continues, and the next
 * one waits for its answer.
 */
export function createModelCallLeases(pool: Pool) {
  return {
    /**
     * Records, directly before the request is sent, what the call costs if its answer never arrives, and the most that it
     * may cost if a daily budget applies. An earlier call of the step that was in flight counts as lost. Unless the call
     * has begun, nothing may be sent. Takes the lease again: it has expired if the process was suspended since the claim, and
     * another attempt could store an answer before this call is sent.
     */
    async begin(call: NewCall): Promise<CallStart> {
      const { limit } = call;
      if (limit == null) return begin(pool, call);
      const start = await withTransaction(pool, async (client): Promise<CallStart> => {
        // first, so that no call holds its organization while it waits for its step
        if (!(await lockStep(client, call))) return { kind: 'superseded' };
        return (await refusalOf(client, call, limit)) ?? begin(client, call);
      });
      // two jobs with a killed call each would otherwise wait for each other
      const { jobId, turn, step, fence } = call;
      if (start.kind === 'busy') await pool.query(loseAsked(claimedStep), [jobId, turn, step, fence]);
      return start;
    },

    /** Records that the call has ended without an answer, and its cost. */
    async lose({ jobId, turn, step, fence, micros }: StepRef & { fence: number; micros: number }): Promise<void> {
      await pool.query({
        name: 'lose-call',
        text: `
          with held as (
            update job_steps set asked_micros = 0, lost_micros = lost_micros + $5
            where job_id = $1 and turn = $2 and step = $3 and fence = $4 and asked_micros > 0
            returning job_id, turn, step, $5::bigint as lost
          ), ${freeLost}, ${countLost}
          select from held`,
        values: [jobId, turn, step, fence, micros],
      });
    },

    /** Charges calls that a killed worker left in a turn that has since ended and has no further attempt. */
    async loseAbandoned(): Promise<void> {
      // an attempt that is still running renews its lease and settles its own call
      await pool.query(
        loseAsked(`
          select job_id, turn, step, asked_micros as lost from job_steps
          where asked_micros > 0 and (asked_until is null or asked_until < now() - interval '1 minute')
            and not exists (
              select from jobs where id = job_id and jobs.turn = job_steps.turn and jobs.status = 'active'
            )
          limit 100 for update skip locked`),
      );
    },

    /** Reports whether an attempt holds the lease of the step. */
    async isInFlight({ jobId, turn, step }: StepRef): Promise<boolean> {
      const { rowCount } = await pool.query(
        `select from job_steps
         where job_id = $1 and turn = $2 and step = $3 and response is null and asked_until > now()`,
        [jobId, turn, step],
      );
      return rowCount === 1;
    },

    /** Renews the leases of this process, but for those of locked steps: a lease outlives a missed renewal. */
    async renew(refs: StepRef[]): Promise<void> {
      await pool.query({
        name: 'renew-model-calls',
        text: `
          with held as (
            select job_id, turn, step
            from unnest($1::text[], $2::integer[], $3::integer[]) as asked (job_id, turn, step)
            join job_steps using (job_id, turn, step)
            where response is null
            for no key update of job_steps skip locked
          )
          update job_steps set asked_until = now() + $4::float8 * interval '1 millisecond'
          from held
          where job_steps.job_id = held.job_id and job_steps.turn = held.turn and job_steps.step = held.step`,
        values: [
          refs.map(({ jobId }) => jobId),
          refs.map(({ turn }) => turn),
          refs.map(({ step }) => step),
          modelCallLeaseMs,
        ],
      });
    },

    /** Releases the lease of an attempt that has stopped; no effect when a newer one has started. */
    async release({ jobId, turn, step, fence }: StepRef & { fence: number }): Promise<void> {
      await pool.query(
        'update job_steps set asked_until = null where job_id = $1 and turn = $2 and step = $3 and fence = $4',
        [jobId, turn, step, fence],
      );
    },
  };
}
