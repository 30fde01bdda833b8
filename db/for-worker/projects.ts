import type { Pool } from 'pg';
import type { SecretBox } from '../../lib/encryption/secret-box.ts';
import type { Owner } from '../caller.ts';
import { canBeId } from '../ids.ts';
import { projectCredentialOwner, projectSshKeyOwner } from '../organizations/project-secrets.ts';
import { listProjects, projectColumns, type ProjectRow } from '../organizations/projects.ts';

/** Projects as the worker finds them: by the id that a job has, or all of a site's organization. */
export interface ProjectReader {
  get(id: string): Promise<ProjectRow | null>;
  list(owner: Owner): Promise<ProjectRow[]>;
}

export interface ProjectCredentialReader {
  /** The project's token for its forge; null when it has none. Throws SealedError. */
  read(projectId: string): Promise<string | null>;
  /** The project's private key for ssh; null when it has none. Throws SealedError. */
  readSshKey(projectId: string): Promise<string | null>;
}

export function createProjectReader(pool: Pool): ProjectReader {
  return {
    async get(id) {
      if (!canBeId(id)) return null;
      const { rows } = await pool.query<ProjectRow>({
        name: 'find-project-of-job',
        text: `select ${projectColumns} from projects where id = $1`,
        values: [id],
      });
      return rows[0] ?? null;
    },
    list: (owner) => listProjects(pool, owner),
  };
}

/** Tokens and private keys of projects, opened for the worker. */
export function createProjectCredentialReader(pool: Pool, box: Pick<SecretBox, 'open'>): ProjectCredentialReader {
  async function open(column: 'credential' | 'ssh_key', projectId: string, owner: string): Promise<string | null> {
    const { rows } = await pool.query<{ sealed: string | null }>({
      name: `read-project-${column}`,
      text: `select ${column} as sealed from projects where id = $1`,
      values: [projectId],
    });
    const sealed = rows[0]?.sealed ?? null;
    return sealed === null ? null : box.open(sealed, owner);
  }

  return {
    read: (projectId) => open('credential', projectId, projectCredentialOwner(projectId)),
    readSshKey: (projectId) => open('ssh_key', projectId, projectSshKeyOwner(projectId)),
  };
}
