import type { Pool, PoolClient } from 'pg';
import { writeAudit } from './audit.ts';
import type { Caller } from '../caller.ts';
import { deleteAll } from '../delete-in-batches.ts';
import { removeOrphanBlocks } from '../sites/index-blocks.ts';
import { withTransaction } from '../pool.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';

/** Deletes permanently. Dependent rows are deleted by their foreign keys, and running executions are cancelled. */
export interface Erasure {
  /** False when the organization has no such job. */
  job(caller: Caller, jobId: string): Promise<boolean>;
  /** Deletes a project with all its jobs; false when the organization has no such project. */
  project(caller: Caller, projectId: string): Promise<boolean>;
  /** Deletes an organization with everything but the audit entry of the deletion; false when there is none. */
  organization(caller: Caller): Promise<boolean>;
}

/** Longer than a statement of a request may take: gigabytes may be deleted. */
const eraseMs = 60_000;
/** Jobs that are deleted in one transaction. */
const jobsAtOnce = 100;

export function createErasure(pool: Pool): Erasure {
  async function erase(
    caller: Caller,
    { table, id, jobs }: { table: 'jobs' | 'projects' | 'organizations'; id: string; jobs: string },
  ): Promise<boolean> {
    const erased = await withTransaction(pool, async (client) => {
      const ofCaller = table === 'organizations' ? 'id = $2' : 'organization_id = $2';
      const values = [id, caller.organizationId];
      const ids = await endJobs(client, `${jobs} = $1 and organization_id = $2`, values);
      // prevents further additions
      const { rowCount } = await client.query(`select from ${table} where id = $1 and ${ofCaller} for update`, values);
      if (rowCount !== 1) return null;
      await client.query(`delete from rate_limits where right(key, length($1) + 1) = ':' || $1`, [id]);
      await client.query(`delete from ${table} where id = $1`, [id]);
      if (table === 'organizations')
        for (const kept of ['audit_entries', 'operation_facts', 'organization_growth'])
          await client.query(`delete from ${kept} where organization_id = $1`, [id]);
      await writeAudit(client, caller, { action: `${table.slice(0, -1)}.delete`, subject: id });
      return ids;
    });
    for (const jobId of erased ?? []) wakeWatchers(pool, jobId);
    return erased !== null;
  }

  /** Deletes the jobs of a project or an organization in short transactions; those that are created meanwhile may stay. */
  async function eraseJobs(
    { organizationId }: Caller,
    column: 'project_id' | 'organization_id',
    id: string,
  ): Promise<void> {
    const some = `id = any(array(
      select id from jobs where ${column} = $1 and organization_id = $2 order by created_at desc limit ${jobsAtOnce}))`;
    for (let count = jobsAtOnce; count === jobsAtOnce;) {
      const ids = await withTransaction(pool, async (client) => {
        const ended = await endJobs(client, some, [id, organizationId]);
        await client.query('delete from jobs where id = any($1::text[])', [ended]);
        return ended;
      });
      for (const jobId of ids) wakeWatchers(pool, jobId);
      count = ids.length;
    }
  }

  return {
    job: (caller, jobId) => erase(caller, { table: 'jobs', id: jobId, jobs: 'id' }),
    async project(caller, projectId) {
      await eraseJobs(caller, 'project_id', projectId);
      return erase(caller, { table: 'projects', id: projectId, jobs: 'project_id' });
    },
    async organization(caller) {
      const { organizationId } = caller;
      await eraseJobs(caller, 'organization_id', organizationId);
      for (const table of ['threads', 'audit_entries'])
        await deleteAll(pool, table, 'organization_id = $2', [organizationId]);
      const isErased = await erase(caller, { table: 'organizations', id: organizationId, jobs: 'organization_id' });
      if (isErased) await removeOrphanBlocks(pool);
      return isErased;
    },
  };
}

/**
 * Locks jobs, in the order of the statements that change a job, which lock what the job belongs to, and records the executions to
 * cancel. Returns the ids.
 */
async function endJobs(client: PoolClient, which: string, values: string[]): Promise<string[]> {
  await client.query(`set local statement_timeout = ${eraseMs}`);
  const { rows } = await client.query<{ id: string }>(
    `select id from jobs where ${which} order by id for update`,
    values,
  );
  const ids = rows.map(({ id }) => id);
  await client.query(
    `insert into job_cancels (job_id, turn)
     select id, turn from jobs where id = any($1::text[]) and status = 'active' on conflict do nothing`,
    [ids],
  );
  return ids;
}
