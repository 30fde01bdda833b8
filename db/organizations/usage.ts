import type { Pool } from 'pg';
import { deleteInBatches } from '../delete-in-batches.ts';
import type { Owner } from '../caller.ts';
import { readWithin } from '../pool.ts';

/** Requests of a key since they were last stored. */
export interface KeyUse {
  keyId: string;
  requests: number;
  refused: number;
}

export interface UsedDay {
  /** `2026-11-21`, UTC. */
  day: string;
  requests: number;
  refused: number;
  /** Admitted requests in the busiest hour of the day. */
  busiestHour: number;
}

export interface Usage {
  /** The days of the query; the last one is today (UTC). */
  days: string[];
  keys: { id: string; name: string | null; isRevoked: boolean; days: UsedDay[] }[];
  organization: UsedDay[];
  projects: { id: string; name: string; budgetMicros: number | null; days: { day: string; costMicros: number }[] }[];
}

/** Longest range of a query, in days. */
export const maxUsageDays = 90;

/** Number of keys and projects whose usage is listed: the newest, valid keys first. */
export const maxListed = 200;

const since = `(date_trunc('day', now() at time zone 'utc') - ($2::integer - 1) * interval '1 day')`;

const usedDays = (group: string, condition = '') => `
  with hours as (
    select ${group}, hour, sum(requests) as requests, sum(refused) as refused
    from key_uses join api_keys on api_keys.id = key_id
    where organization_id = $1 and hour >= ${since} at time zone 'utc' ${condition}
    group by ${group}, hour
  )
  select ${group} as id, to_char(hour at time zone 'utc', 'YYYY-MM-DD') as day, sum(requests)::float8 as requests,
         sum(refused)::float8 as refused, max(requests - refused)::float8 as "busiestHour"
  from hours group by 1, 2 order by 1, 2`;

export type UsageStore = ReturnType<typeof createUsageStore>;

/** Creates the store of the usage of keys and projects, with their limits. */
export function createUsageStore(pool: Pool) {
  return {
    /** Adds to the counts of this hour, on database time. */
    async count(uses: KeyUse[]): Promise<void> {
      await pool.query(
        `insert into key_uses as known (key_id, hour, requests, refused)
         select used.id, date_trunc('hour', now()), requests, refused
         from unnest($1::text[], $2::bigint[], $3::bigint[]) as used (id, requests, refused)
         where exists (select from api_keys where api_keys.id = used.id) order by used.id
         on conflict (key_id, hour) do update
         set requests = known.requests + excluded.requests, refused = known.refused + excluded.refused`,
        [uses.map(({ keyId }) => keyId), uses.map(({ requests }) => requests), uses.map(({ refused }) => refused)],
      );
    },

    /** Days without activity are omitted. */
    async read({ organizationId }: Owner, { days }: { days: number }): Promise<Usage> {
      return readWithin(pool, 'report', async (client) => {
        async function rowsOf<Row extends object>(text: string, ...values: unknown[]): Promise<Row[]> {
          return (await client.query<Row>(text, values)).rows;
        }
        const dates = await rowsOf<{ day: string }>(
          `select to_char(day, 'YYYY-MM-DD') as day
           from generate_series(${since.replace('$2', '$1')}, now() at time zone 'utc', '1 day') as day order by day`,
          days,
        );
        const keys = await rowsOf<{ id: string; name: string | null; isRevoked: boolean }>(
          `select id, name, revoked_at is not null as "isRevoked" from (
             select * from api_keys where organization_id = $1 and kind = 'assistant'
             order by revoked_at is not null, created_at desc, id limit ${maxListed}
           ) as newest order by created_at, id`,
          organizationId,
        );
        const ids = (rows: { id: string }[]) => rows.map(({ id }) => id);
        const ofKeys = await rowsOf<UsedDay & { id: string }>(
          usedDays('key_id', 'and key_id = any($3)'),
          organizationId,
          days,
          ids(keys),
        );
        const organization = await rowsOf<UsedDay & { id: string }>(usedDays('organization_id'), organizationId, days);
        const projects = await rowsOf<{ id: string; name: string; budgetMicros: number | null }>(
          `select id, name, daily_budget_micros::float8 as "budgetMicros" from (
             select * from projects where organization_id = $1 order by created_at desc, id limit ${maxListed}
           ) as newest order by created_at, id`,
          organizationId,
        );
        const costs = await rowsOf<{ id: string; day: string; costMicros: number }>(
          `select project_id as id, to_char(day, 'YYYY-MM-DD') as day, cost_micros::float8 as "costMicros"
           from project_spending join projects on projects.id = project_id
           where organization_id = $1 and day >= ${since}::date and project_id = any($3) order by 1, 2`,
          organizationId,
          days,
          ids(projects),
        );
        const daysOfKeys = Map.groupBy(ofKeys, ({ id }) => id);
        const daysOfProjects = Map.groupBy(costs, ({ id }) => id);
        return {
          days: dates.map(({ day }) => day),
          keys: keys.map((key) => ({ ...key, days: daysOfKeys.get(key.id) ?? [] })),
          organization,
          projects: projects.map((project) => ({ ...project, days: daysOfProjects.get(project.id) ?? [] })),
        };
      });
    },

    /** Removes rows that no query covers. */
    async sweep(): Promise<void> {
      await deleteInBatches(
        pool,
        `delete from key_uses where ctid = any(array(
           select ctid from key_uses where hour < now() - $2::integer * interval '1 day'
           order by hour limit $1 for update skip locked
         ))`,
        [maxUsageDays + 1],
      );
    },
  };
}
