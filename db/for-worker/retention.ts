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

/** What a snapshot takes; PostgreSQL knows the lengths without reading the contents. */
export const snapshotSize = 'octet_length(pack) + octet_length(patch)';

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

export const emptySnapshot = `removed_at = now(), pack = '', patch = ''`;

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
      `with loose as (
         select job_id, tree, ${snapshotSize} as bytes,
                sum(${snapshotSize}) over (order by created_at, job_id, tree) - (${snapshotSize}) as before
         from job_snapshots where ${ofOrganization} and removed_at is null and not (${keptTree})
       )
       update job_snapshots set ${emptySnapshot} from loose
       where job_snapshots.job_id = loose.job_id and job_snapshots.tree = loose.tree and before < $2
       returning loose.bytes::float8 as bytes`,
      [organizationId, bytes - mostBytes],
    );
    bytes -= emptied.rows.reduce((sum, row) => sum + row.bytes, 0);
  }
  await client.query('update organizations set snapshot_bytes = $2 where id = $1 and snapshot_bytes <> $2', [
    organizationId,
    bytes,
  ]);
}
