import type { MigrationBuilder } from 'node-pg-migrate';
import { runConcurrently } from '../run-concurrently.ts';

/** Creates the index of transcripts that will expire, while jobs are written. */
export function up(builder: MigrationBuilder): void {
  runConcurrently(builder, [
    'drop index concurrently if exists jobs_with_transcripts',
    `create index concurrently jobs_with_transcripts on jobs (archived_at)
     where status = 'archived' and transcript_removed_at is null`,
  ]);
}
