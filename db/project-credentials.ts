import type { Pool } from 'pg';
import type { SecretBox } from '../encryption/secret-box.ts';
import { canBeId } from './ids.ts';

export interface ProjectCredentialStore {
  /** Replaces the project's token; null removes it. False when there is no such project. */
  write(projectId: string, token: string | null): Promise<boolean>;
  /** The project's token; null when it has none. Throws SealedError. */
  read(projectId: string): Promise<string | null>;
}

/** What the token of a project is sealed for. */
export function projectCredentialOwner(projectId: string): string {
  return `project-credential/${projectId}`;
}

/** Tokens for the forges of projects. They are stored sealed, and no list shows them. */
export function createProjectCredentialStore(pool: Pool, box: SecretBox): ProjectCredentialStore {
  return {
    async write(projectId, token) {
      if (!canBeId(projectId)) return false;
      const sealed = token === null ? null : box.seal(token, projectCredentialOwner(projectId));
      const { rowCount } = await pool.query('update projects set credential = $2 where id = $1', [projectId, sealed]);
      return rowCount === 1;
    },

    async read(projectId) {
      const { rows } = await pool.query<{ credential: string | null }>({
        name: 'read-project-credential',
        text: 'select credential from projects where id = $1',
        values: [projectId],
      });
      const sealed = rows[0]?.credential ?? null;
      return sealed === null ? null : box.open(sealed, projectCredentialOwner(projectId));
    },
  };
}
