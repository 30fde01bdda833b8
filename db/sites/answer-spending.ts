import type { Pool } from 'pg';
import { withTransaction } from '../pool.ts';
import { onlyRow } from '../rows.ts';

/**
 * Costs of the assistant's answers, counted together with those of the organization's jobs. Amounts are in millionths
 * of a US dollar.
 */
export interface AnswerSpendingStore {
  /**
   * Reserves the most that an answer may cost, and returns the day it counts for. Null when the day's budget is spent.
   */
  hold(answer: { organizationId: string; mostMicros: number; budgetMicros: number | null }): Promise<string | null>;
  /** Adjusts the amount counted for a day; a negative amount is returned to the budget. */
  add(answer: { organizationId: string; day: string; micros: number }): Promise<void>;
}

/**
 * Returns an organization's spending today, and the possible cost of its jobs' calls in flight; $1 is the organization.
 */
export const organizationCost = `
  select
    coalesce((select cost_micros from organization_spending
              where organization_id = $1 and day = (now() at time zone 'utc')::date), 0)::float8 as spent,
    coalesce((select sum(held.cost_micros) from cost_reservations as held
              join jobs on jobs.id = held.job_id and jobs.turn = held.turn and jobs.status = 'active'
              where jobs.organization_id = $1 and held.job_id is distinct from $2), 0)::float8 as held`;

export function createAnswerSpendingStore(pool: Pool): AnswerSpendingStore {
  return {
    async hold({ organizationId, mostMicros, budgetMicros }) {
      return withTransaction(pool, async (client) => {
        // one admission of an organization at a time
        await client.query('select from organizations where id = $1 for no key update', [organizationId]);
        const { rows } = await client.query<{ spent: number; held: number }>(organizationCost, [organizationId, null]);
        const { spent, held } = onlyRow(rows);
        if (budgetMicros !== null && spent + held >= budgetMicros) return null;
        const counted = await client.query<{ day: string }>(
          `insert into organization_spending as spending (organization_id, day, cost_micros)
           values ($1, (now() at time zone 'utc')::date, $2)
           on conflict (organization_id, day) do update set cost_micros = spending.cost_micros + excluded.cost_micros
           returning day::text`,
          [organizationId, mostMicros],
        );
        return onlyRow(counted.rows).day;
      });
    },

    async add({ organizationId, day, micros }) {
      await pool.query(
        'update organization_spending set cost_micros = cost_micros + $3 where organization_id = $1 and day = $2',
        [organizationId, day, micros],
      );
    },
  };
}
