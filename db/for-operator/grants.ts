import type { Pool } from 'pg';
import { writeAudit } from '../organizations/audit.ts';
import { operatorOf, type Owner } from '../caller.ts';
import { withTransaction } from '../pool.ts';

interface GrantRow {
  organizationId: string;
  /** A canonical resource: `*`, an address or a path, with `/*` for everything below. */
  resource: string;
  createdAt: Date;
}

/** Changes grants; only the operator does. */
export function createGrantAdministration(pool: Pool) {
  async function change(owner: Owner, resource: string, action: 'create' | 'revoke'): Promise<boolean> {
    const statement =
      action === 'create'
        ? 'insert into grants (organization_id, resource) values ($1, $2) on conflict do nothing'
        : 'delete from grants where organization_id = $1 and resource = $2';
    return withTransaction(pool, async (client) => {
      const { rowCount } = await client.query(statement, [owner.organizationId, resource]);
      if (rowCount !== 1) return false;
      await writeAudit(client, operatorOf(owner), { action: `grant.${action}`, subject: resource });
      return true;
    });
  }

  return {
    /** False when the organization already has it. */
    grant: (owner: Owner, resource: string): Promise<boolean> => change(owner, resource, 'create'),
    /** False when the organization does not have it. */
    revoke: (owner: Owner, resource: string): Promise<boolean> => change(owner, resource, 'revoke'),

    async list(organizationId: string | null): Promise<GrantRow[]> {
      const { rows } = await pool.query<GrantRow>(
        `select organization_id as "organizationId", resource, created_at as "createdAt" from grants
         where $1::text is null or organization_id = $1 order by organization_id, resource`,
        [organizationId],
      );
      return rows;
    },
  };
}
