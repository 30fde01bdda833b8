import type { Pool } from 'pg';
import type { SecretBox } from '../../../lib/encryption/secret-box.ts';
import { projectSecretOwner } from '../../organizations/project-secrets.ts';

/** Reads the secrets that the environment setup of a project's jobs receives. */
export interface ProjectSecretReader {
  names(projectId: string): Promise<string[]>;
  /** Returns the values by name. Throws SealedError. */
  read(projectId: string): Promise<Record<string, string>>;
}

export function createProjectSecretReader(pool: Pool, box: Pick<SecretBox, 'open'>): ProjectSecretReader {
  return {
    async names(projectId) {
      const { rows } = await pool.query<{ name: string }>(
        'select name from project_secrets where project_id = $1 order by name',
        [projectId],
      );
      return rows.map(({ name }) => name);
    },

    async read(projectId) {
      const { rows } = await pool.query<{ id: string; name: string; value: string }>(
        'select id, name, value from project_secrets where project_id = $1 order by name',
        [projectId],
      );
      return Object.fromEntries(rows.map(({ id, name, value }) => [name, box.open(value, projectSecretOwner(id))]));
    },
  };
}
