import type { Pool } from 'pg';
import { rollUpFacts } from '../roll-up-facts.ts';

/** Days to keep rows; 0 to keep them until they are deleted explicitly. */
export interface Retention {
  /** For jobs, counted from their archiving. */
  jobDays: number;
  /** For the steps and files of jobs, counted from their archiving. */
  transcriptDays: number;
  /** For entries of the audit log. */
  auditDays: number;
  /** Limit of the snapshots of one organization, in bytes. */
  snapshotBytes: number;
  /** Largest number of conversations of one organization. */
  threads: number;
}

const rowsAtOnce = 500;
/** For revoked and expired keys, spending by day, and gaps: longer than any query reads. */
const figureDays = 400;

/** For layers of environment setups, counted from their last use. */
const unusedLayerDays = 30;
/** For the incomplete layers of dead builders. */
const abandonedLayerDays = 1;

/**
 * Size of a snapshot with the changes of the steps that led to it; PostgreSQL knows the lengths without reading the
 * contents.
 */
export const snapshotSize = `(
  octet_length(job_snapshots.pack) + octet_length(job_snapshots.patch) + coalesce((
    select sum(octet_length(job_steps.patch)) from job_steps
    where job_steps.job_id = job_snapshots.job_id and job_steps.tree = job_snapshots.tree and job_steps.patch is not null
  ), 0))`;

/**
 * Trees that are kept longest: the newest one, those of pull requests, those at the start and end of each turn, and that
 * of before the review of an active turn, which is published if the review is cut off.
 */
export const keptTree = `
  coalesce(tree in (
    select last.tree from (
      select job_id, turn, null::integer as review from job_turns
      union all
      select job_id, turn, step from job_notes join jobs using (turn)
      where jobs.id = job_id and status = 'active' and kind = 'self-review'
    ) as ends, lateral (
      select job_steps.tree from job_steps
      where job_steps.job_id = ends.job_id and job_steps.turn = ends.turn and job_steps.tree is not null
        and (step < review) is not false
      order by step desc limit 1
    ) as last where ends.job_id = job_snapshots.job_id
    union all select job_turns.tree from job_turns where job_turns.job_id = job_snapshots.job_id
    union all select first_tree from job_turns where job_turns.job_id = job_snapshots.job_id
    union all select head_tree from jobs where jobs.id = job_snapshots.job_id
    union all select head_tree from pull_requests where opened_by = job_snapshots.job_id
  ), false)`;

/**
 * Removes the contents of snapshots, and the changes of the steps that led to them. Returns the rows of `which`, a
 * query of job_id and tree.
 */
export const emptySnapshots = (which: string) => `
  with which as (${which}), emptied as (
    update job_snapshots set removed_at = now(), pack = '', patch = '' from which
    where job_snapshots.job_id = which.job_id and job_snapshots.tree = which.tree
  ), emptied_steps as (
    update job_steps set patch = null from which
    where job_steps.job_id = which.job_id and job_steps.tree = which.tree and job_steps.patch is not null
  )
  select * from which`;

export type RetentionStore = ReturnType<typeof createRetentionStore>;

export function createRetentionStore(pool: Pool) {
  async function remove(table: string, old: string, values: unknown[]): Promise<boolean> {
    // by ctid, because the id of a gap is unique only within its site
    const { rowCount } = await pool.query(`delete from ${table} where ctid = any(array(${old}))`, values);
    return rowCount === rowsAtOnce;
  }

  /** Returns a query for a batch of rows older than `$1` days, oldest first. */
  const oldest = (table: string, column: string, where = 'true') => `
    select ctid from ${table} where ${where} and $1::integer > 0 and ${column} < now() - $1::integer * interval '1 day'
    order by ${column} limit ${rowsAtOnce}`;

  return {
    /** Adds the growth of organizations to their totals, and removes their oldest snapshots and conversations beyond their limits. */
    async bound({ snapshotBytes, threads }: Pick<Retention, 'snapshotBytes' | 'threads'>): Promise<void> {
      await addGrowth(pool);
      const { rows } = await pool.query<Totals>(
        `select id, snapshot_bytes::float8 as "snapshotBytes", threads::float8 as threads,
                snapshots_removed_to::text as "snapshotsRemovedTo"
         from organizations where snapshot_bytes > $1 or threads > $2 order by id`,
        [snapshotBytes, threads],
      );
      for (const totals of rows) {
        await boundSnapshots(pool, totals, totals.snapshotBytes - snapshotBytes);
        await boundThreads(pool, totals.id, totals.threads - threads);
      }
      if (rows.length > 0) await addGrowth(pool);
    },

    /** Removes rows beyond their retention, a bounded number of each kind; returns whether there may be more. */
    async sweep(retention: Omit<Retention, 'snapshotBytes' | 'threads'>): Promise<boolean> {
      const { jobDays, transcriptDays, auditDays } = retention;
      const more = [
        await removeTranscripts(pool, transcriptDays),
        await remove('jobs', oldest('jobs', 'archived_at', `status = 'archived'`), [jobDays]),
        await remove('environment_layers', oldest('environment_layers', 'used_at'), [unusedLayerDays]),
        await remove('environment_layers', oldest('environment_layers', 'held_until'), [abandonedLayerDays]),
        await remove('audit_entries', oldest('audit_entries', 'created_at'), [auditDays]),
        await remove('api_keys', oldest('api_keys', 'least(revoked_at, expires_at)'), [figureDays]),
        await remove('gaps', oldest('gaps', 'created_at'), [figureDays]),
      ];
      for (const table of ['project_spending', 'organization_spending', 'site_spending'])
        more.push(await remove(table, oldest(table, 'day'), [figureDays]));
      return more.includes(true);
    },
  };
}

const transcriptsAtOnce = 100;

/**
 * Removes the steps and files of jobs that were archived long ago; their turns, messages, outcome and number of changed files
 * remain. Returns whether there may be more.
 */
async function removeTranscripts(pool: Pool, days: number): Promise<boolean> {
  if (days === 0) return false;
  const { rowCount } = await pool.query(
    `with old as materialized (
       select id, head_tree from jobs
       where status = 'archived' and transcript_removed_at is null and archived_at < now() - $1::integer * interval '1 day'
       order by archived_at limit ${transcriptsAtOnce} for update skip locked
     ), steps as (
       delete from job_steps using old where job_id = id
     ), images as (
       delete from job_images using old where job_id = id
     ), tools as (
       delete from job_tools using old where job_id = id
     ), notes as (
       delete from job_notes using old where job_id = id
     ), compactions as (
       delete from job_compactions using old where job_id = id
     ), instructions as (
       delete from job_effects using old where job_id = id and effect <> 'push'
     ), snapshots as (
       delete from job_snapshots using old where job_id = id and tree is distinct from head_tree
     ), head as (
       update job_snapshots set pack = '', patch = '', removed_at = now() from old where job_id = id and tree = head_tree
     )
     update jobs set transcript_removed_at = now() from old where jobs.id = old.id`,
    [days],
  );
  return rowCount === transcriptsAtOnce;
}

interface Totals {
  id: string;
  snapshotBytes: number;
  threads: number;
  snapshotsRemovedTo: string | null;
}

/** Adds what organizations have gained and lost to their totals, without waiting for writers. */
function addGrowth(pool: Pool): Promise<void> {
  return rollUpFacts(
    pool,
    'organization_growth',
    `grown as (
       select organization_id, sum(snapshot_bytes) as snapshot_bytes, sum(threads) as threads from taken group by organization_id
     ), added as (
       update organizations set snapshot_bytes = organizations.snapshot_bytes + grown.snapshot_bytes,
                                threads = organizations.threads + grown.threads
       from grown where id = organization_id
     )`,
  );
}

/** Removes the oldest conversations of an organization. */
async function boundThreads(pool: Pool, organizationId: string, excess: number): Promise<void> {
  for (let left = excess; left > 0;) {
    const { rowCount } = await pool.query(
      `delete from threads where ctid = any(array(
         select ctid from threads where organization_id = $1 order by updated_at limit $2 for update skip locked
       ))`,
      [organizationId, Math.min(left, rowsAtOnce)],
    );
    if (rowCount === 0) return;
    left -= rowCount ?? 0;
  }
}

const jobsAtOnce = 100;
/** Batches of jobs without anything to remove, after which the next round continues. */
const maxIdleBatches = 50;

/**
 * Removes `excess` bytes of snapshots that are not kept longest, from the oldest jobs on. What earlier rounds have gone through is
 * gone through again after the newest job.
 */
async function boundSnapshots(pool: Pool, { id, snapshotsRemovedTo }: Totals, excess: number): Promise<void> {
  let after = snapshotsRemovedTo;
  for (let left = excess, idle = 0; left > 0 && idle < maxIdleBatches;) {
    const { rows: jobs } = await pool.query<{ id: string; createdAt: string }>(
      `select id, created_at::text as "createdAt" from jobs
       where organization_id = $1 and created_at > coalesce($2::timestamptz, '-infinity')
       order by created_at fetch first ${jobsAtOnce} rows with ties`,
      [id, after],
    );
    const { rows } = await pool.query<{ bytes: number }>(
      emptySnapshots(`
        select job_id, tree, bytes::float8 as bytes from (
          select job_id, tree, bytes, sum(bytes) over (order by created_at, job_id, tree) - bytes as before
          from (
            select job_id, tree, created_at, ${snapshotSize} as bytes
            from job_snapshots where job_id = any($1::text[]) and removed_at is null and not (${keptTree})
          ) as sized
        ) as loose where before < $2`),
      [jobs.map((job) => job.id), left],
    );
    left -= rows.reduce((sum, row) => sum + row.bytes, 0);
    idle = rows.length === 0 ? idle + 1 : 0;
    if (left > 0) after = jobs.at(-1)?.createdAt ?? null;
    if (after === null) break;
  }
  await pool.query('update organizations set snapshots_removed_to = $2 where id = $1', [id, after]);
}
