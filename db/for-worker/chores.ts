import type { Pool } from 'pg';

/** Timers of processes differ, so a round may begin a little before its interval has passed. */
const early = 0.9;

export type ChoreClaims = ReturnType<typeof createChoreClaims>;

/** Creates the claims of chores, so that one worker does each of them for all jobs. */
export function createChoreClaims(pool: Pool) {
  return {
    /**
     * Reports whether this process runs a chore now; only one process does in each interval. If it is killed, the chore runs in the next interval.
     */
    async claim(name: string, everyMs: number): Promise<boolean> {
      const { rowCount } = await pool.query(
        `insert into chores (name, due_at) values ($1, now() + $2::float8 * interval '1 millisecond')
         on conflict (name) do update set due_at = excluded.due_at where chores.due_at <= now()`,
        [name, everyMs * early],
      );
      return rowCount === 1;
    },
  };
}
