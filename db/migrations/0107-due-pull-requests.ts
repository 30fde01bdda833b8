import type { MigrationBuilder } from 'node-pg-migrate';
import { runConcurrently } from '../run-concurrently.ts';

/**
 * Indexes open pull requests of ended jobs by the time of their next check, while jobs are written. It follows from when they were
 * last checked, which processes of earlier versions record, too. It is in UTC, because sums of `timestamptz` depend on the zone.
 */
export function up(builder: MigrationBuilder): void {
  runConcurrently(builder, [
    `create or replace function pull_request_due(checked_at timestamptz, ended_at timestamptz) returns timestamp
     language sql immutable parallel safe
     -- the older the job, the rarer
     return coalesce(checked_at, ended_at) at time zone 'UTC'
            + greatest(interval '1 minute', (coalesce(checked_at, ended_at) - ended_at) / 20)`,
    'drop index concurrently if exists jobs_pull_request_due',
    `create index concurrently jobs_pull_request_due on jobs (pull_request_due(pr_checked_at, ended_at))
     where status in ('completed', 'failed') and pr_id is not null and coalesce(pr_state, 'open') = 'open'`,
    'drop index concurrently if exists jobs_with_open_pull_request',
  ]);
}
