import type { Pool } from 'pg';
import type { SiteRef } from '../caller.ts';
import { withTransaction } from '../pool.ts';
import { onlyRow } from '../rows.ts';

/** Whose daily budget is spent; a spent budget of the organization is checked again after some time. */
type SpentBudget = { spent: 'site' } | { spent: 'organization'; retryAfterSeconds: number };

/** The reservation of a call. */
export interface AnswerReservation {
  id: string;
  /** The day whose budgets it counts for. */
  day: string;
  /** Cost of the call once the reservation has expired. */
  lostMicros: number;
}

/** Longer than any answer. */
const reservationMinutes = 10;
/** Calls in flight take about that long. */
const busySeconds = 30;

interface AnswerCall {
  maxMicros: number;
  /** Cost of the call if its process is killed. */
  lostMicros: number;
  /** Budget of the site's answers per day (UTC); null for no limit. */
  siteMicros: number | null;
  /** Budget of the organization's jobs and answers per day (UTC); null for no limit. */
  organizationMicros: number | null;
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

const siteCost = `
  select coalesce((select cost_micros from site_spending
                   where site_id = sites.id and day = (now() at time zone 'utc')::date), 0)::float8 as spent
  from sites where id = $1 and organization_id = $2`;

/** While calls in flight hold the rest of the budget `$3`, they may soon leave room; else the next day does. */
const retryAfter = `
  select case
    when $2 - coalesce(sum(cost_micros), 0) < $3::float8 then ${busySeconds}
    else ceil(extract(epoch from date_trunc('day', now(), 'utc') + interval '1 day' - now()))
  end::float8 as seconds
  from answer_holds where organization_id = $1 and day = (now() at time zone 'utc')::date`;

export type AnswerSpendingStore = ReturnType<typeof createAnswerSpendingStore>;

/**
 * Costs of the assistant's answers, counted together with those of the organization's jobs. Amounts are in millionths
 * of a US dollar.
 */
export function createAnswerSpendingStore(pool: Pool) {
  return {
    /**
     * Reserves the most that a model call of an answer may cost, or returns whose budget of the day it does not fit. The
     * organization's budget is exceeded by at most one call, that of the site by none.
     */
    async reserve({ id, organizationId }: SiteRef, call: AnswerCall): Promise<AnswerReservation | SpentBudget> {
      const { maxMicros, lostMicros, siteMicros, organizationMicros } = call;
      return withTransaction(pool, async (client) => {
        // one admission of an organization at a time
        await client.query('select from organizations where id = $1 for no key update', [organizationId]);
        const [ofSite] = (await client.query<{ spent: number }>(siteCost, [id, organizationId])).rows;
        // a site that was deleted meanwhile has nothing left
        if (ofSite === undefined) return { spent: 'site' as const };
        if (siteMicros !== null && ofSite.spent + maxMicros > siteMicros) return { spent: 'site' as const };
        const { rows } = await client.query<{ spent: number; held: number }>(organizationCost, [organizationId, null]);
        const { spent, held } = onlyRow(rows);
        if (organizationMicros !== null && spent + held >= organizationMicros) {
          const values = [organizationId, spent, organizationMicros];
          const { seconds } = onlyRow((await client.query<{ seconds: number }>(retryAfter, values)).rows);
          return { spent: 'organization' as const, retryAfterSeconds: seconds };
        }
        await client.query(
          `insert into site_spending as spending (site_id, day, cost_micros)
           values ($1, (now() at time zone 'utc')::date, $2)
           on conflict (site_id, day) do update set cost_micros = spending.cost_micros + excluded.cost_micros`,
          [id, maxMicros],
        );
        const counted = await client.query<{ id: string; day: string }>(
          `with counted as (
             insert into organization_spending as spending (organization_id, day, cost_micros)
             values ($1, (now() at time zone 'utc')::date, $3)
             on conflict (organization_id, day) do update set cost_micros = spending.cost_micros + excluded.cost_micros
             returning day
           )
           insert into answer_holds (organization_id, site_id, day, cost_micros, lost_micros, expires_at)
           select $1, $2, day, $3, $4, now() + make_interval(mins => ${reservationMinutes}) from counted
           returning id::text, day::text`,
          [organizationId, id, maxMicros, lostMicros],
        );
        return { ...onlyRow(counted.rows), lostMicros };
      });
    },

    /** Replaces a reservation by what the call cost, even if the reservation has expired meanwhile. */
    async settle({ id, organizationId }: SiteRef, reservation: AnswerReservation, micros: number): Promise<void> {
      // the count makes PostgreSQL lock the row of the site first, as a reservation does: the other order is a deadlock
      await pool.query(
        `with settled as (
           delete from answer_holds where id = $3 and organization_id = $2 returning cost_micros
         ), change as (
           select $5::bigint - coalesce((select cost_micros from settled), $6::bigint) as micros
         ), of_site as (
           update site_spending set cost_micros = cost_micros + micros from change
           where site_id = (select id from sites where id = $1 and organization_id = $2) and day = $4
           returning site_id
         )
         update organization_spending set cost_micros = cost_micros + micros from change
         where organization_id = $2 and day = $4 and (select count(*) from of_site) >= 0`,
        [id, organizationId, reservation.id, reservation.day, micros, reservation.lostMicros],
      );
    },
  };
}
