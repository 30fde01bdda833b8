import type { MigrationBuilder } from 'node-pg-migrate';
import { runConcurrently } from '../run-concurrently.ts';

/** Counts what organizations hold and forgets their growth. It is one statement, so that each row counts either here or as growth. */
export const countHeld = `
  with counted as (delete from organization_growth),
    bytes as (
      select organization_id, sum(bytes) as bytes from (
        select job_id, octet_length(pack) + octet_length(patch) as bytes from job_snapshots
        union all select job_id, octet_length(patch) from job_steps where patch is not null
      ) as sizes join jobs on jobs.id = job_id group by organization_id
    ),
    conversations as (select organization_id, count(*) as threads from threads group by organization_id)
  update organizations set
    snapshot_bytes = coalesce((select bytes from bytes where organization_id = organizations.id), 0),
    threads = coalesce((select threads from conversations where organization_id = organizations.id), 0)`;

export function up(builder: MigrationBuilder): void {
  runConcurrently(builder, [countHeld]);
}
