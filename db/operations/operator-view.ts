import type { Pool } from 'pg';
import type { Owner } from '../caller.ts';

export interface WorkerRow {
  id: string;
  host: string;
  pid: number;
  /** The build, or that of the package. */
  version: string;
  activeTasks: number;
  startedAt: Date;
  seenAt: Date;
}

export interface OperatorView {
  /** Whether an organization sees the machines of the service: the operator names it, or it is the only one. */
  isOpenTo(owner: Owner): Promise<boolean>;
  /** The worker processes that reported in the last minutes, oldest first; without their rows where the view is not open. */
  workers(owner: Owner, options: { withinMinutes: number }): Promise<{ count: number; rows: WorkerRow[] | null }>;
}

/** The workers that are listed one by one. */
export const mostWorkers = 1_000;

/** The machines of the service, which are the operator's. `organizationIds` are the organizations that the operator names. */
export function createOperatorView(pool: Pool, organizationIds: string[]): OperatorView {
  async function isOpenTo({ organizationId }: Owner): Promise<boolean> {
    if (organizationIds.length > 0) return organizationIds.includes(organizationId);
    const { rowCount } = await pool.query('select from organizations where id <> $1 limit 1', [organizationId]);
    return rowCount === 0;
  }

  return {
    isOpenTo,

    async workers(owner, { withinMinutes }) {
      const { rows } = await pool.query<WorkerRow & { count: number }>(
        `select id, host, pid, version, active_tasks as "activeTasks", started_at as "startedAt", seen_at as "seenAt",
                (count(*) over ())::integer as count
         from workers where seen_at > now() - $1::float8 * interval '1 minute'
         order by started_at, id limit ${mostWorkers}`,
        [withinMinutes],
      );
      return { count: rows[0]?.count ?? 0, rows: (await isOpenTo(owner)) ? rows : null };
    },
  };
}
