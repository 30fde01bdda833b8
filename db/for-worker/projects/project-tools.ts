import type { Pool } from 'pg';
import type { SecretBox } from '../../../lib/encryption/secret-box.ts';
import { readToolsOfProject, type McpCredentials, type McpServer } from '../../organizations/project-tools.ts';

export type ProjectToolReader = ReturnType<typeof createProjectToolReader>;

/** Reads the MCP servers of a job's project. */
export function createProjectToolReader(pool: Pool, box: Pick<SecretBox, 'open'>) {
  return {
    /** Returns the servers with their credentials. Throws SealedError. */
    read: (projectId: string): Promise<{ servers: McpServer[]; credentials: McpCredentials }> =>
      readToolsOfProject(pool, box, projectId),
  };
}
