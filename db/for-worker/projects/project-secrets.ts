import type { Pool } from 'pg';
import type { SecretBox } from '../../../lib/encryption/secret-box.ts';
import { projectSecretOwner } from '../../organizations/project-secrets.ts';

export type ProjectSecretReader = ReturnType<typeof createProjectSecretReader>;

/** Reads the secrets that the environment setup of a project's jobs receives. */
export function createProjectSecretReader(pool: Pool, box: Pick<SecretBox, 'open'>) {
  return {
    async names(projectId: string): Promise<string[]> {
      const { rows } = await pool.query<{ name: string }>(
        'select name from project_secrets where project_id = $1 order by name',
        [projectId],
      );
      return rows.map(({ name }) => name);
    },

    /** Returns the values by name. Throws SealedError. */
    async read(projectId: string): Promise<Record<string, string>> {
      const { rows } = await pool.query<{ id: string; name: string; value: string }>(
        'select id, name, value from project_secrets where project_id = $1 order by name',
        [projectId],
      );
      return Object.fromEntries(rows.map(({ id, name, value }) => [name, box.open(value, projectSecretOwner(id))]));
    },
  };
}
