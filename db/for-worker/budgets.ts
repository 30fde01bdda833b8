import type { PoolClient } from 'pg';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { organizationCost } from '../sites/answer-spending.ts';
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

/** The budgets that a model call must fit. */
export interface CallLimit {
  projectId: string;
  budgets: Budgets;
  /** The most that the call may cost. It counts as spent until the answer is stored. */
  maxMicros: number;
}

/**
 * Why a call may not be made. `busy`: calls of other jobs in flight may use up the rest of the day's budget. `spent`:
 * nothing is left.
 */
export type Refusal =
  | { kind: 'busy' }
  | { kind: 'spent'; scope: 'job' | 'day' | 'organization'; spentMicros: number; budgetMicros: number };

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

/**
 * Returns why the budgets refuse a call, null when it may be made. Locks the organization until the end of the
 * transaction, which has to record the call, so that budgets are exact across workers.
 */
export async function refusalOf(
  client: PoolClient,
  { jobId, turn }: TurnRef,
  { projectId, budgets }: CallLimit,
): Promise<Refusal | null> {
  const { jobMicros, dayMicros, organizationMicros } = budgets;
  if (jobMicros !== null) {
    const used = await client.query<{ spent: number }>({ name: 'turn-cost', text: turnCost, values: [jobId, turn] });
    const { spent } = onlyRow(used.rows);
    if (spent >= jobMicros) return { kind: 'spent', scope: 'job', spentMicros: spent, budgetMicros: jobMicros };
  }
  if (dayMicros === null && organizationMicros === null) return null;
  // one admission of an organization at a time; the key-share locks of new jobs do not conflict
  const { rows } = await client.query<{ id: string }>({
    name: 'lock-organization',
    text: `select id from organizations where id = (select organization_id from projects where id = $1) for no key update`,
    values: [projectId],
  });
  const scopes = [
    { scope: 'day', budget: dayMicros, cost: dayCost, of: projectId },
    { scope: 'organization', budget: organizationMicros, cost: organizationCost, of: onlyRow(rows).id },
  ] as const;
  for (const { scope, budget, cost, of } of scopes) {
    if (budget === null) continue;
    const used = await client.query<{ spent: number; held: number }>({
      name: `${scope}-cost`,
      text: cost,
      values: [of, jobId],
    });
    const { spent, held } = onlyRow(used.rows);
    if (spent >= budget) return { kind: 'spent', scope, spentMicros: spent, budgetMicros: budget };
    if (spent + held >= budget) return { kind: 'busy' };
  }
  return null;
}
