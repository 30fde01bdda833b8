import type { MigrationBuilder } from 'node-pg-migrate';
import { runConcurrently } from '../run-concurrently.ts';

/**
 * Indexes the open pull requests of archived jobs, too, by the time of their next check, while jobs are written. Processes of
 * earlier versions, which look for those of completed and failed jobs, use the same index.
 */
export function up(builder: MigrationBuilder): void {
  runConcurrently(builder, [
    'drop index concurrently if exists jobs_pull_request_check',
    `create index concurrently jobs_pull_request_check on jobs (pull_request_due(pr_checked_at, ended_at))
     where status <> 'active' and pr_id is not null and coalesce(pr_state, 'open') = 'open'`,
    'drop index concurrently if exists jobs_pull_request_due',
  ]);
}
