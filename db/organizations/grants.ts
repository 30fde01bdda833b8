import type { Pool } from 'pg';
import type { Owner } from '../caller.ts';

export interface GrantStore {
  /** Returns the resources that the organization may use. */
  resources(owner: Owner): Promise<string[]>;
}

/** Reads which of the operator's repositories, directories and credentials organizations may use. */
export function createGrantStore(pool: Pool): GrantStore {
  return {
    async resources({ organizationId }) {
      const { rows } = await pool.query<{ resource: string }>({
        name: 'granted-resources',
        text: 'select resource from grants where organization_id = $1',
        values: [organizationId],
      });
      return rows.map(({ resource }) => resource);
    },
  };
}
