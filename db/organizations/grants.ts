import type { Pool } from 'pg';
import type { Owner } from '../caller.ts';

export type GrantStore = ReturnType<typeof createGrantStore>;

/** Reads which of the operator's repositories, directories and credentials organizations may use. */
export function createGrantStore(pool: Pool) {
  return {
    /** Returns the resources that the organization may use. */
    async resources({ organizationId }: Owner): Promise<string[]> {
      const { rows } = await pool.query<{ resource: string }>({
        name: 'granted-resources',
        text: 'select resource from grants where organization_id = $1',
        values: [organizationId],
      });
      return rows.map(({ resource }) => resource);
    },
  };
}
