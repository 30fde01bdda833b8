import type { Pool } from 'pg';
import { writeAudit } from '../organizations/audit.ts';
import { operatorOf, type Owner } from '../caller.ts';
import { newId } from '../ids.ts';
import { organizationColumns, type OrganizationRow } from '../organizations/organizations.ts';
import { withTransaction } from '../pool.ts';
import { onlyRow } from '../rows.ts';

/** The organizations of the installation, for its operator. */
export function createOrganizationDirectory(pool: Pool) {
  return {
    create({ name }: { name: string }): Promise<OrganizationRow> {
      return withTransaction(pool, async (client) => {
        const { rows } = await client.query<OrganizationRow>(
          `insert into organizations (id, name) values ($1, $2) returning ${organizationColumns}`,
          [newId('org_'), name],
        );
        const organization = onlyRow(rows);
        const operator = operatorOf({ organizationId: organization.id });
        await writeAudit(client, operator, { action: 'organization.create', subject: organization.id });
        return organization;
      });
    },

    async list(): Promise<OrganizationRow[]> {
      const { rows } = await pool.query<OrganizationRow>(
        `select ${organizationColumns} from organizations order by created_at, id`,
      );
      return rows;
    },

    async ownerOfKey(id: string): Promise<Owner | null> {
      const { rows } = await pool.query<Owner>(
        'select organization_id as "organizationId" from api_keys where id = $1',
        [id],
      );
      return rows[0] ?? null;
    },
  };
}
