import type { MigrationBuilder } from 'node-pg-migrate';
import { runConcurrently } from '../run-concurrently.ts';

/** Replaces the indexes that kept updates of active jobs from being HOT, while jobs are written. */
export function up(builder: MigrationBuilder): void {
  runConcurrently(builder, [
    // an attempt that was interrupted leaves an invalid index
    'drop index concurrently if exists jobs_settled',
    'create index concurrently jobs_settled on jobs (organization_id, settled_at, id) where settled_at is not null',
    'drop index concurrently if exists jobs_by_change',
    'drop index concurrently if exists jobs_idle',
    // room for the next version of a row on its page
    'alter table jobs set (fillfactor = 80)',
    'alter table job_event_logs set (fillfactor = 80)',
  ]);
}
