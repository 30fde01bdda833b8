import type { Pool, PoolClient } from 'pg';
import { writeAudit } from './audit.ts';
import type { Caller } from '../caller.ts';
import { deleteAll } from '../delete-in-batches.ts';
import { removeOrphanBlocks } from '../sites/index-blocks.ts';
import { withTransaction } from '../pool.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';

/** Longer than a statement of a request may take: gigabytes may be deleted. */
const eraseMs = 60_000;
/** Jobs that are deleted in one transaction. */
const jobsAtOnce = 100;

export type Erasure = ReturnType<typeof createErasure>;

/** Deletes permanently. Dependent rows are deleted by their foreign keys, and running executions are cancelled. */
export function createErasure(pool: Pool) {
  /**
   * Deletes jobs in short transactions, the last of which deletes what they belong to. The first one writes the audit entry, so that
   * nothing is deleted without; but the entries of an organization go with it.
   */
  async function erase(
    caller: Caller,
    { table, id, jobs }: { table: 'jobs' | 'projects' | 'organizations'; id: string; jobs: string },
  ): Promise<boolean> {
    const values = [id, caller.organizationId];
    for (let isFirst = true; ; isFirst = false) {
      const batch = await withTransaction(pool, async (client) => {
        await client.query(`set local statement_timeout = ${eraseMs}`);
        // locks in the order of the statements that change a job, which lock what the job belongs to
        const locked = await client.query<{ id: string }>(
          `select id from jobs where id = any(array(
             select id from jobs where ${jobs} = $1 and organization_id = $2 order by created_at desc limit ${jobsAtOnce}
           )) order by id for update`,
          values,
        );
        const ids = locked.rows.map((row) => row.id);
        const isLast = ids.length < jobsAtOnce;
        if (isLast) {
          const ofCaller = table === 'organizations' ? 'id = $2' : 'organization_id = $2';
          // prevents further additions
          const parent = await client.query(`select from ${table} where id = $1 and ${ofCaller} for update`, values);
          if (parent.rowCount !== 1) return null;
          await endJobs(client, `jobs.${jobs} = $1`, [id]);
          await client.query(`delete from rate_limits where right(key, length($1) + 1) = ':' || $1`, [id]);
          await client.query(`delete from ${table} where id = $1`, [id]);
        } else {
          await endJobs(client, 'jobs.id = any($1::text[])', [ids]);
          await client.query('delete from jobs where id = any($1::text[])', [ids]);
        }
        if (isLast && table === 'organizations')
          for (const kept of ['audit_entries', 'operation_facts', 'organization_growth'])
            await client.query(`delete from ${kept} where organization_id = $1`, [id]);
        if (table === 'organizations' ? isLast : isFirst)
          await writeAudit(client, caller, { action: `${table.slice(0, -1)}.delete`, subject: id });
        return { ids, isLast };
      });
      if (batch === null) return false;
      for (const jobId of batch.ids) wakeWatchers(pool, jobId);
      if (batch.isLast) return true;
    }
  }

  return {
    /** False when the organization has no such job. */
    job: (caller: Caller, jobId: string): Promise<boolean> => erase(caller, { table: 'jobs', id: jobId, jobs: 'id' }),
    /** Deletes a project with all its jobs; false when the organization has no such project. */
    project: (caller: Caller, projectId: string): Promise<boolean> =>
      erase(caller, { table: 'projects', id: projectId, jobs: 'project_id' }),
    /** Deletes an organization with everything but the audit entry of the deletion; false when there is none. */
    async organization(caller: Caller): Promise<boolean> {
      const { organizationId } = caller;
      await deleteAll(pool, 'threads', 'organization_id = $2 order by updated_at', [organizationId]);
      await deleteAll(pool, 'audit_entries', 'organization_id = $2 order by created_at', [organizationId]);
      const isErased = await erase(caller, { table: 'organizations', id: organizationId, jobs: 'organization_id' });
      if (isErased) await removeOrphanBlocks(pool);
      return isErased;
    },
  };
}

/** Records the executions to cancel, and charges the model calls in flight, which are paid for without their jobs. */
async function endJobs(client: PoolClient, which: string, values: unknown[]): Promise<void> {
  await client.query(
    `insert into project_spending as spending (project_id, day, cost_micros)
     select project_id, (now() at time zone 'utc')::date, sum(asked_micros)
     from jobs join job_steps on job_id = jobs.id where ${which} and asked_micros > 0 group by project_id
     on conflict (project_id, day) do update set cost_micros = spending.cost_micros + excluded.cost_micros`,
    values,
  );
  await client.query(
    `insert into job_cancels (job_id, turn)
     select id, turn from jobs where ${which} and status = 'active' on conflict do nothing`,
    values,
  );
}
