import type { MigrationBuilder } from 'node-pg-migrate';
import { runConcurrently } from '../run-concurrently.ts';

/** Creates the index of audit entries by resource, while entries are being written. */
export function up(builder: MigrationBuilder): void {
  runConcurrently(builder, [
    'drop index concurrently if exists audit_entries_by_subject',
    `create index concurrently audit_entries_by_subject on audit_entries (organization_id, subject, created_at desc)
     where subject is not null`,
  ]);
}
