import type { Pool } from 'pg';
import type { Owner } from '../caller.ts';
import { canBeId } from '../ids.ts';

export interface OrganizationRow {
  id: string;
  name: string;
  createdAt: Date;
}

export interface OrganizationStore {
  get(owner: Owner): Promise<OrganizationRow | null>;
}

export const organizationColumns = 'id, name, created_at as "createdAt"';

/** Creates the store of organizations, which own projects, sites and keys. */
export function createOrganizationStore(pool: Pool): OrganizationStore {
  return {
    async get({ organizationId }) {
      if (!canBeId(organizationId)) return null;
      const { rows } = await pool.query<OrganizationRow>(
        `select ${organizationColumns} from organizations where id = $1`,
        [organizationId],
      );
      return rows[0] ?? null;
    },
  };
}
