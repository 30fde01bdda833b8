import type { MigrationBuilder } from 'node-pg-migrate';
import { runConcurrently } from '../run-concurrently.ts';

/**
 * Creates the indexes by which the watchdog goes through active jobs and expired waits are found, while jobs are written. Their
 * conditions name no column that changes while a job is at work, so its updates stay HOT.
 */
export function up(builder: MigrationBuilder): void {
  runConcurrently(builder, [
    'drop index concurrently if exists jobs_active_by_id',
    `create index concurrently jobs_active_by_id on jobs (id) where status = 'active'`,
    'drop index concurrently if exists jobs_waiting',
    `create index concurrently jobs_waiting on jobs (wait_until) where status = 'active' and wait_until is not null`,
  ]);
}
