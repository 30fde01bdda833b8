import type { Pool, PoolClient } from 'pg';
import { writeAudit } from './audit.ts';
import type { Caller } from '../caller.ts';
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
/** Jobs whose watchers are woken; those of others notice at their next look, within two seconds. */
const mostWoken = 1_000;

export function createErasure(pool: Pool): Erasure {
  async function erase(
    caller: Caller,
    { table, id, jobs }: { table: 'jobs' | 'projects' | 'organizations'; id: string; jobs: string },
  ): Promise<boolean> {
    const erased = await withTransaction(pool, async (client) => {
      await client.query(`set local statement_timeout = ${eraseMs}`);
      const ofCaller = table === 'organizations' ? 'id = $2' : 'organization_id = $2';
      const values = [id, caller.organizationId];
      // locks in the order of the statements that change a job, which lock what the job belongs to
      const locked = await client.query<{ id: string }>(
        `select id from jobs where ${jobs} = $1 and organization_id = $2 order by id for update`,
        values,
      );
      // prevents further additions
      const { rowCount } = await client.query(`select from ${table} where id = $1 and ${ofCaller} for update`, values);
      if (rowCount !== 1) return null;
      await endJobs(client, jobs, id);
      await client.query(`delete from rate_limits where right(key, length($1) + 1) = ':' || $1`, [id]);
      await client.query(`delete from ${table} where id = $1`, [id]);
      if (table === 'organizations')
        for (const kept of ['audit_entries', 'operation_facts'])
          await client.query(`delete from ${kept} where organization_id = $1`, [id]);
      await writeAudit(client, caller, { action: `${table.slice(0, -1)}.delete`, subject: id });
      return locked.rows;
    });
    for (const job of erased?.slice(0, mostWoken) ?? []) wakeWatchers(pool, job.id);
    return erased !== null;
  }

  return {
    job: (caller, jobId) => erase(caller, { table: 'jobs', id: jobId, jobs: 'id' }),
    project: (caller, projectId) => erase(caller, { table: 'projects', id: projectId, jobs: 'project_id' }),
    async organization(caller) {
      const { organizationId } = caller;
      const isErased = await erase(caller, { table: 'organizations', id: organizationId, jobs: 'organization_id' });
      if (isErased) await removeOrphanBlocks(pool);
      return isErased;
    },
  };
}

/** Records the executions to cancel. */
async function endJobs(client: PoolClient, column: string, id: string): Promise<void> {
  await client.query(
    `insert into job_cancels (job_id, turn)
     select id, turn from jobs where ${column} = $1 and status = 'active' on conflict do nothing`,
    [id],
  );
}
