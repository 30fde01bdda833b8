import type { Pool, PoolClient } from 'pg';
import type { StepRef } from '../../workflows/contract/job.ts';
import { organizationCost } from '../sites/answer-spending.ts';
import { withTransaction } from '../pool.ts';
import { onlyRow } from '../rows.ts';

/** Budgets in millionths of a US dollar; null for no limit. */
export interface Budgets {
  /** For one turn of a job. */
  jobMicros: number | null;
  /** For all jobs of the project per day (UTC). */
  dayMicros: number | null;
  /** For all jobs of the organization and the answers of its assistant per day (UTC). */
  organizationMicros: number | null;
}

/**
 * `held`: the call may be made, and counts as in flight until its answer is stored. `busy`: calls of other jobs in
 * flight may use up the rest of the day's budget. `spent`: nothing is left.
 */
export type Admission =
  | { kind: 'held' }
  | { kind: 'busy' }
  | { kind: 'spent'; scope: 'job' | 'day' | 'organization'; spentMicros: number; budgetMicros: number };

export interface BudgetStore {
  /** Requests admission of a model call that may cost up to `mostMicros`. */
  admit(call: StepRef & { projectId: string; budgets: Budgets; mostMicros: number }): Promise<Admission>;
}

const turnCost = `
  select coalesce(sum(cost_micros), 0)::float8 as spent from (
    select coalesce(cost_micros, 0) + lost_micros as cost_micros from job_steps where job_id = $1 and turn = $2
    union all
    select cost_micros from job_compactions where job_id = $1 and turn = $2
  ) as calls`;

// a call counts while its job is active: killed workers and ended jobs hold nothing
const dayCost = `
  select
    coalesce((select cost_micros from project_spending
              where project_id = $1 and day = (now() at time zone 'utc')::date), 0)::float8 as spent,
    coalesce((select sum(held.cost_micros) from cost_reservations as held
              join jobs on jobs.id = held.job_id and jobs.turn = held.turn and jobs.status = 'active'
              where held.project_id = $1 and held.job_id <> $2), 0)::float8 as held`;

/** Creates the store of job budgets, which are exact across workers. */
export function createBudgetStore(pool: Pool): BudgetStore {
  return {
    async admit({ jobId, turn, step, projectId, budgets, mostMicros }) {
      return withTransaction(pool, async (client): Promise<Admission> => {
        if (budgets.jobMicros !== null) {
          const { rows } = await client.query<{ spent: number }>(turnCost, [jobId, turn]);
          const { spent } = onlyRow(rows);
          if (spent >= budgets.jobMicros)
            return { kind: 'spent', scope: 'job', spentMicros: spent, budgetMicros: budgets.jobMicros };
        }
        const { dayMicros, organizationMicros } = budgets;
        if (dayMicros === null && organizationMicros === null) return { kind: 'held' };
        // one admission of an organization at a time; the key-share locks of new jobs do not conflict
        const { rows } = await client.query<{ id: string }>(
          `select id from organizations where id = (select organization_id from projects where id = $1) for no key update`,
          [projectId],
        );
        const scopes = [
          { scope: 'day', budget: dayMicros, cost: dayCost, of: projectId },
          { scope: 'organization', budget: organizationMicros, cost: organizationCost, of: onlyRow(rows).id },
        ] as const;
        for (const { scope, budget, cost, of } of scopes) {
          if (budget === null) continue;
          const used = await client.query<{ spent: number; held: number }>(cost, [of, jobId]);
          const { spent, held } = onlyRow(used.rows);
          if (spent >= budget) return { kind: 'spent', scope, spentMicros: spent, budgetMicros: budget };
          if (spent + held >= budget) return { kind: 'busy' };
        }
        await hold(client, { jobId, turn, step, projectId, mostMicros });
        return { kind: 'held' };
      });
    },
  };
}

async function hold(
  client: PoolClient,
  { jobId, turn, step, projectId, mostMicros }: StepRef & { projectId: string; mostMicros: number },
): Promise<void> {
  await client.query(
    `insert into cost_reservations (job_id, turn, step, project_id, cost_micros) values ($1, $2, $3, $4, $5)
     on conflict (job_id, turn, step) do update set cost_micros = excluded.cost_micros`,
    [jobId, turn, step, projectId, mostMicros],
  );
}
