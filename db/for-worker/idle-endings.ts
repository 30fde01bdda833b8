import type { Pool } from 'pg';

export interface IdleEndings {
  /** Archives jobs that ended more than `idleDays` days ago without a message since; returns how many. */
  archiveIdle(options: { idleDays: number; limit: number }): Promise<number>;
}

/** Ends jobs by age. */
export function createIdleEndings(pool: Pool): IdleEndings {
  return {
    async archiveIdle({ idleDays, limit }) {
      const { rowCount } = await pool.query(
        `update jobs set status = 'archived', archived_at = now(), updated_at = now()
         where id in (
           select id from jobs
           where status in ('completed', 'failed') and ended_at < now() - $1::float8 * interval '1 day'
           order by ended_at limit $2 for update skip locked
         )`,
        [idleDays, limit],
      );
      return rowCount ?? 0;
    },
  };
}
