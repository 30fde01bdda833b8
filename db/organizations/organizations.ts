import type { Pool } from 'pg';
import type { Owner } from '../caller.ts';
import { canBeId } from '../ids.ts';

export interface OrganizationRow {
  id: string;
  name: string;
  createdAt: Date;
}

export const organizationColumns = 'id, name, created_at as "createdAt"';

export type OrganizationStore = ReturnType<typeof createOrganizationStore>;

/** Creates the store of organizations, which own projects, sites and keys. */
export function createOrganizationStore(pool: Pool) {
  return {
    async get({ organizationId }: Owner): Promise<OrganizationRow | null> {
      if (!canBeId(organizationId)) return null;
      const { rows } = await pool.query<OrganizationRow>(
        `select ${organizationColumns} from organizations where id = $1`,
        [organizationId],
      );
      return rows[0] ?? null;
    },
  };
}
