import type { Pool } from 'pg';
import { onlyRow } from '../rows.ts';

/** Kinds of work that the database holds for any API process; true when there may be some. */
interface DueChores {
  starts: boolean;
  cancels: boolean;
  gapChecks: boolean;
  evaluations: boolean;
}

export function createDueChoreStore(pool: Pool) {
  return {
    /** Returns which kinds of work are due. */
    async poll(): Promise<DueChores> {
      const { rows } = await pool.query<DueChores>({
        name: 'due-chores',
        text: `
          select exists (select from job_outbox where next_attempt_at <= now()) as starts,
                 exists (select from job_cancels where next_attempt_at <= now()) as cancels,
                 exists (
                   select from gaps join sites on sites.id = site_id left join jobs on jobs.id = job_id
                   where (state = 'working' and pr_state = 'merged') or state = 'asking'
                      or (state = 'indexing' and index_failure is null)
                 ) as "gapChecks",
                 exists (
                   select from evaluations where state = 'running' and (claimed_until is null or claimed_until < now())
                 ) as evaluations`,
      });
      return onlyRow(rows);
    },
  };
}
