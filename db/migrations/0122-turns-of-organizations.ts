import type { MigrationBuilder } from 'node-pg-migrate';
import { runConcurrently } from '../run-concurrently.ts';

/**
 * Indexes the checks of pull requests by organization and the starts of deliveries by webhook, so that these take turns.
 * Processes of earlier versions use the same indexes.
 */
export function up(builder: MigrationBuilder): void {
  runConcurrently(builder, [
    'drop index concurrently if exists jobs_pull_request_turns',
    `create index concurrently jobs_pull_request_turns
     on jobs (organization_id, pull_request_due(pr_checked_at, coalesce(ended_at, wait_since, created_at)))
     where pr_id is not null and coalesce(pr_state, 'open') = 'open'`,
    'drop index concurrently if exists jobs_pull_request_check',
    'drop index concurrently if exists pull_requests_turns',
    `create index concurrently pull_requests_turns on pull_requests (organization_id, check_due_at)
     where check_due_at is not null`,
    'drop index concurrently if exists pull_requests_to_poll',
    'drop index concurrently if exists webhook_deliveries_turns',
    `create index concurrently webhook_deliveries_turns on webhook_deliveries (endpoint_id, start_at)
     where start_at is not null`,
  ]);
}
