import type { Pool } from 'pg';
import { writeAudit } from '../organizations/audit.ts';
import { operatorOf, type Owner } from '../caller.ts';
import { canBeId, newId } from '../ids.ts';
import { organizationColumns, type OrganizationRow } from '../organizations/organizations.ts';
import { withTransaction } from '../pool.ts';
import { onlyRow } from '../rows.ts';
import { toStoredText } from '../stored-text.ts';

/** What the operator's command line finds without naming an organization. */
export interface OrganizationDirectory {
  create(organization: { name: string }): Promise<OrganizationRow>;
  list(): Promise<OrganizationRow[]>;
  ownerOfProject(id: string): Promise<Owner | null>;
  ownerOfKey(id: string): Promise<Owner | null>;
  /** Organizations that have a site of the domain; several may. */
  ownersOfDomain(domain: string): Promise<Owner[]>;
}

export function createOrganizationDirectory(pool: Pool): OrganizationDirectory {
  async function ownerOf(table: 'projects' | 'api_keys', id: string): Promise<Owner | null> {
    if (!canBeId(id)) return null;
    const { rows } = await pool.query<Owner>(`select organization_id as "organizationId" from ${table} where id = $1`, [
      id,
    ]);
    return rows[0] ?? null;
  }

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

    ownerOfProject: (id) => ownerOf('projects', id),
    ownerOfKey: (id) => ownerOf('api_keys', id),

    async ownersOfDomain(domain) {
      const { rows } = await pool.query<Owner>(
        'select organization_id as "organizationId" from sites where domain = $1 order by created_at, id',
        [toStoredText(domain)],
      );
      return rows;
    },
  };
}
