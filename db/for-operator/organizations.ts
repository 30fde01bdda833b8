import type { Pool } from 'pg';
import { writeAudit } from '../organizations/audit.ts';
import { operatorOf, type Owner } from '../caller.ts';
import { newId } from '../ids.ts';
import { organizationColumns, type OrganizationRow } from '../organizations/organizations.ts';
import { withTransaction } from '../pool.ts';
import { onlyRow } from '../rows.ts';

/** The organizations of the installation, for its operator. */
export interface OrganizationDirectory {
  create(organization: { name: string }): Promise<OrganizationRow>;
  list(): Promise<OrganizationRow[]>;
  ownerOfKey(id: string): Promise<Owner | null>;
}

export function createOrganizationDirectory(pool: Pool): OrganizationDirectory {
  return {
    create({ name }) {
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

    async list() {
      const { rows } = await pool.query<OrganizationRow>(
        `select ${organizationColumns} from organizations order by created_at, id`,
      );
      return rows;
    },

    async ownerOfKey(id) {
      const { rows } = await pool.query<Owner>(
        'select organization_id as "organizationId" from api_keys where id = $1',
        [id],
      );
      return rows[0] ?? null;
    },
  };
}
