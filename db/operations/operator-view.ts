import type { Pool } from 'pg';
import type { Owner } from '../caller.ts';

export interface WorkerRow {
  id: string;
  host: string;
  pid: number;
  /** The build id, or else the version of the package. */
  version: string;
  activeTasks: number;
  startedAt: Date;
  seenAt: Date;
}

interface ReportedWorkers {
  count: number;
  /** The newest report. */
  seenAt: Date | null;
  rows: WorkerRow[] | null;
}

/** Largest number of workers that are listed. */
export const maxWorkers = 1_000;

export type OperatorView = ReturnType<typeof createOperatorView>;

/** Creates the view of the service's machines. `organizationIds` are the organizations that the operator names. */
export function createOperatorView(pool: Pool, organizationIds: string[]) {
  /** Reports whether an organization sees the machines of the service: the operator names it, or it is the only one. */
  async function isOpenTo({ organizationId }: Owner): Promise<boolean> {
    if (organizationIds.length > 0) return organizationIds.includes(organizationId);
    const { rowCount } = await pool.query('select from organizations where id <> $1 limit 1', [organizationId]);
    return rowCount === 0;
  }

  return {
    isOpenTo,

    /**
     * Returns the worker processes that reported in the last minutes, oldest first; without their rows if the
     * organization may not see them.
     */
    async workers(owner: Owner, { withinMinutes }: { withinMinutes: number }): Promise<ReportedWorkers> {
      const { rows } = await pool.query<WorkerRow & { count: number; newest: Date }>(
        `select id, host, pid, version, active_tasks as "activeTasks", started_at as "startedAt", seen_at as "seenAt",
                (count(*) over ())::integer as count, max(seen_at) over () as newest
         from workers where seen_at > now() - $1::float8 * interval '1 minute'
         order by started_at, id limit ${maxWorkers}`,
        [withinMinutes],
      );
      const [first] = rows;
      return { count: first?.count ?? 0, seenAt: first?.newest ?? null, rows: (await isOpenTo(owner)) ? rows : null };
    },
  };
}
