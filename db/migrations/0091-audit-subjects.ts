import type { MigrationBuilder } from 'node-pg-migrate';

/** Creates the index of what was done to a resource, while audit entries are written. */
export function up(builder: MigrationBuilder): void {
  builder.noTransaction();
  builder.sql('drop index concurrently if exists audit_entries_by_subject');
  builder.sql(
    `create index concurrently audit_entries_by_subject on audit_entries (organization_id, subject, created_at desc)
     where subject is not null`,
  );
}
