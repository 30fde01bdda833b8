import type { Pool } from 'pg';
import { onlyRow } from '../rows.ts';

/** Kinds of work that the database holds for any worker; true when there is some to claim. */
interface DueWork {
  indexRequests: boolean;
  webhookStarts: boolean;
  histories: boolean;
  merges: boolean;
  mergeChecks: boolean;
}

export function createDueWorkStore(pool: Pool) {
  return {
    /** Returns which kinds of work are due. */
    async poll(): Promise<DueWork> {
      const { rows } = await pool.query<DueWork>({
        name: 'due-work',
        text: `
          select exists (select from sites where index_requested_at is not null) as "indexRequests",
                 exists (select from webhook_deliveries where start_at <= now()) as "webhookStarts",
                 exists (
                   select from job_history_exports where state = 'waiting' and next_attempt_at <= now()
                 ) as histories,
                 exists (select from pull_requests where merge_requested_at is not null and state = 'open') as merges,
                 exists (select from pull_requests where check_requested_at is not null) as "mergeChecks"`,
      });
      return onlyRow(rows);
    },
  };
}
