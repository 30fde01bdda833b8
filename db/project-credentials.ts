import type { Pool } from 'pg';
import type { SecretBox } from '../encryption/secret-box.ts';
import { canBeId } from './ids.ts';

export interface ProjectCredentialStore {
  /** Replaces the project's token; null removes it. False when there is no such project. */
  write(projectId: string, token: string | null): Promise<boolean>;
  /** The project's token; null when it has none. Throws SealedError. */
  read(projectId: string): Promise<string | null>;
  /** Replaces the project's private key for ssh; null removes it. False when there is no such project. */
  writeSshKey(projectId: string, key: string | null): Promise<boolean>;
  /** The project's private key for ssh; null when it has none. Throws SealedError. */
  readSshKey(projectId: string): Promise<string | null>;
}

/** What the token of a project is sealed for. */
export function projectCredentialOwner(projectId: string): string {
  return `project-credential/${projectId}`;
}

/** What the private key of a project is sealed for. */
export function projectSshKeyOwner(projectId: string): string {
  return `project-ssh-key/${projectId}`;
}

/** Tokens and private keys of projects. They are stored sealed, and no list shows them. */
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

    async writeSshKey(projectId, key) {
      if (!canBeId(projectId)) return false;
      const sealed = key === null ? null : box.seal(key, projectSshKeyOwner(projectId));
      const { rowCount } = await pool.query('update projects set ssh_key = $2 where id = $1', [projectId, sealed]);
      return rowCount === 1;
    },

    async readSshKey(projectId) {
      const { rows } = await pool.query<{ sealed: string | null }>({
        name: 'read-project-ssh-key',
        text: 'select ssh_key as sealed from projects where id = $1',
        values: [projectId],
      });
      const sealed = rows[0]?.sealed ?? null;
      return sealed === null ? null : box.open(sealed, projectSshKeyOwner(projectId));
    },
  };
}
