import type { MigrationBuilder } from 'node-pg-migrate';
import { runConcurrently } from '../run-concurrently.ts';

/** Indexes spending by its age, while it is counted. */
export function up(builder: MigrationBuilder): void {
  runConcurrently(
    builder,
    ['project_spending', 'organization_spending', 'site_spending'].flatMap((table) => [
      `drop index concurrently if exists ${table}_by_age`,
      `create index concurrently ${table}_by_age on ${table} (day)`,
    ]),
  );
}
