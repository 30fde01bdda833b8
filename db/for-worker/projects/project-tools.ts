import type { Pool } from 'pg';
import type { SecretBox } from '../../../lib/encryption/secret-box.ts';
import { readToolsOfProject, type McpCredentials, type McpServer } from '../../organizations/project-tools.ts';

/** Reads the MCP servers of a job's project. */
export interface ProjectToolReader {
  /** Returns the servers with their credentials. Throws SealedError. */
  read(projectId: string): Promise<{ servers: McpServer[]; credentials: McpCredentials }>;
}

export function createProjectToolReader(pool: Pool, box: Pick<SecretBox, 'open'>): ProjectToolReader {
  return { read: (projectId) => readToolsOfProject(pool, box, projectId) };
}
