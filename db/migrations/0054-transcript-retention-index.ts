import type { MigrationBuilder } from 'node-pg-migrate';

/** Creates the index of transcripts that will expire, while jobs are written. */
export function up(builder: MigrationBuilder): void {
  builder.noTransaction();
  builder.sql('drop index concurrently if exists jobs_with_transcripts');
  builder.sql(
    `create index concurrently jobs_with_transcripts on jobs (archived_at)
     where status = 'archived' and transcript_removed_at is null`,
  );
}
