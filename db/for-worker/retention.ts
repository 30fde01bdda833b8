import type { Pool, PoolClient } from 'pg';
import { withTransaction } from '../pool.ts';
import { onlyRow } from '../rows.ts';

/** How long rows are kept, in days; 0: until somebody deletes them. */
export interface Retention {
  /** Of jobs that were archived. */
  jobDays: number;
  /** Of entries of the audit log. */
  auditDays: number;
  /** What the snapshots of one organization may take. */
  snapshotBytes: number;
  /** Conversations of one organization. */
  threads: number;
}

export interface RetentionStore {
  /** Removes what is older or more than is kept, a bounded number of rows of each; answers whether there may be more. */
  sweep(retention: Retention): Promise<boolean>;
}

const rowsAtOnce = 500;
/** Of revoked and expired keys, spending by day, and gaps: longer than anything asks for. */
const figureDays = 400;

/** What a snapshot takes with the changes of the steps that led to it; PostgreSQL knows the lengths without reading the contents. */
export const snapshotSize = `(
  octet_length(job_snapshots.pack) + octet_length(job_snapshots.patch) + coalesce((
    select sum(octet_length(job_steps.patch)) from job_steps
    where job_steps.job_id = job_snapshots.job_id and job_steps.tree = job_snapshots.tree and job_steps.patch is not null
  ), 0))`;

/** Trees that stay longest: the newest, those of the end of each turn, and those that a turn began with. */
export const keptTree = `
  coalesce(tree in (
    select last.tree from job_turns as turns, lateral (
      select job_steps.tree from job_steps
      where job_steps.job_id = turns.job_id and job_steps.turn = turns.turn and job_steps.tree is not null
      order by step desc limit 1
    ) as last where turns.job_id = job_snapshots.job_id
    union all select job_turns.tree from job_turns where job_turns.job_id = job_snapshots.job_id
    union all select first_tree from job_turns where job_turns.job_id = job_snapshots.job_id
    union all select head_tree from jobs where jobs.id = job_snapshots.job_id
  ), false)`;

/** Removes the contents of snapshots, and the changes of the steps that led to them. Answers the rows of `which`, a query of job_id and tree. */
export const emptySnapshots = (which: string) => `
  with which as (${which}), emptied as (
    update job_snapshots set removed_at = now(), pack = '', patch = '' from which
    where job_snapshots.job_id = which.job_id and job_snapshots.tree = which.tree
  ), emptied_steps as (
    update job_steps set patch = null from which
    where job_steps.job_id = which.job_id and job_steps.tree = which.tree and job_steps.patch is not null
  )
  select * from which`;

export function createRetentionStore(pool: Pool): RetentionStore {
  async function remove(table: string, key: string, old: string, values: unknown[]): Promise<boolean> {
    const { rowCount } = await pool.query(
      `delete from ${table} where ${key} in (select ${key} from ${table} where ${old} limit ${rowsAtOnce})`,
      values,
    );
    return rowCount === rowsAtOnce;
  }

  const olderThan = (column: string) => `$1::integer > 0 and ${column} < now() - $1::integer * interval '1 day'`;

  return {
    async sweep({ jobDays, auditDays, snapshotBytes, threads }) {
      await boundSnapshots(pool, snapshotBytes);
      const more = [
        await remove('jobs', 'id', `status = 'archived' and ${olderThan('archived_at')}`, [jobDays]),
        await remove('audit_entries', 'id', olderThan('created_at'), [auditDays]),
        await remove('api_keys', 'id', olderThan('least(revoked_at, expires_at)'), [figureDays]),
        await remove('gaps', 'id', olderThan('created_at'), [figureDays]),
        await remove('threads', 'id', beyondNewest, [threads]),
      ];
      for (const table of ['project_spending', 'organization_spending'])
        await pool.query(`delete from ${table} where ${olderThan('day')}`, [figureDays]);
      return more.includes(true);
    },
  };
}

/** Conversations beyond the newest of their organization. */
const beyondNewest = `
  (organization_id, updated_at) in (
    select organizations.id, beyond.updated_at from organizations, lateral (
      select updated_at from threads where threads.organization_id = organizations.id
      order by updated_at desc offset $1::integer limit ${rowsAtOnce}
    ) as beyond
  )`;

/** One organization after the other: empties what is not to be kept longest, the oldest first, and notes what is left. */
async function boundSnapshots(pool: Pool, mostBytes: number): Promise<void> {
  const { rows } = await pool.query<{ id: string }>('select id from organizations order by id');
  for (const { id } of rows) await withTransaction(pool, (client) => boundOf(client, id, mostBytes));
}

async function boundOf(client: PoolClient, organizationId: string, mostBytes: number): Promise<void> {
  const ofOrganization = 'job_id in (select id from jobs where organization_id = $1)';
  const { rows } = await client.query<{ bytes: number }>(
    `select coalesce(sum(${snapshotSize}), 0)::float8 as bytes from job_snapshots where ${ofOrganization}`,
    [organizationId],
  );
  let { bytes } = onlyRow(rows);
  if (bytes > mostBytes) {
    const emptied = await client.query<{ bytes: number }>(
      emptySnapshots(`
        select job_id, tree, bytes::float8 as bytes from (
          select job_id, tree, bytes, sum(bytes) over (order by created_at, job_id, tree) - bytes as before
          from (
            select job_id, tree, created_at, ${snapshotSize} as bytes
            from job_snapshots where ${ofOrganization} and removed_at is null and not (${keptTree})
          ) as sized
        ) as loose where before < $2`),
      [organizationId, bytes - mostBytes],
    );
    bytes -= emptied.rows.reduce((sum, row) => sum + row.bytes, 0);
  }
  await client.query('update organizations set snapshot_bytes = $2 where id = $1 and snapshot_bytes <> $2', [
    organizationId,
    bytes,
  ]);
}
