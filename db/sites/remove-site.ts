import type { Pool } from 'pg';
import type { Caller } from '../caller.ts';
import { writeAudit } from '../organizations/audit.ts';
import { withTransaction } from '../pool.ts';
import { removeOrphanBlocks } from './index-blocks.ts';

/** Conversations that are deleted in one transaction. */
const threadsAtOnce = 1_000;

/**
 * Deletes a site with everything stored for it, in short transactions; false when the organization has none with that id. Locks the site first,
 * so that no conversation and no index is added meanwhile. The first transaction writes the audit entry.
 */
export async function removeSite(pool: Pool, caller: Caller, id: string): Promise<boolean> {
  for (let isFirst = true; ; isFirst = false) {
    const batch = await withTransaction(pool, async (client) => {
      const { rows } = await client.query<{ domain: string }>(
        'select domain from sites where id = $1 and organization_id = $2 for update',
        [id, caller.organizationId],
      );
      const [site] = rows;
      if (site === undefined) return null;
      const { rowCount } = await client.query(
        `delete from threads where id = any(array(
           select id from threads where site_id = $1 order by updated_at limit ${threadsAtOnce}
         ))`,
        [id],
      );
      const isLast = (rowCount ?? 0) < threadsAtOnce;
      if (isLast)
        for (const statement of [
          'delete from replies where site_id = $1',
          'delete from site_indexes where site_id = $1',
          'delete from sites where id = $1',
        ])
          await client.query(statement, [id]);
      if (isFirst) await writeAudit(client, caller, { action: 'site.delete', subject: site.domain });
      return { isLast };
    });
    if (batch === null) return false;
    if (batch.isLast) break;
  }
  await removeOrphanBlocks(pool);
  return true;
}
