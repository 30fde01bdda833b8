import type { Pool } from 'pg';
import { z } from 'zod';
import type { SecretBox } from '../../lib/encryption/secret-box.ts';
import type { readOnlyChoices } from '../../lib/inputs/mcp.ts';
import { writeAudit } from './audit.ts';
import type { Caller, Owner } from '../caller.ts';
import { canBeId } from '../ids.ts';
import { withTransaction } from '../pool.ts';
import { projectToolsOwner } from './project-secrets.ts';
import { toStoredJson } from '../stored-text.ts';

/** An MCP server that a project's agents may use. */
export interface McpServer {
  name: string;
  /** Null for a server that runs as a command. */
  url: string | null;
  /** The program and its arguments; null for a server at a URL. */
  command: string[] | null;
  /** The tools that agents may call; null for all. */
  tools: string[] | null;
  readOnly: (typeof readOnlyChoices)[number];
  /** Names of the headers whose values are sealed. */
  headerNames: string[];
  /** Names of the environment variables of the command, whose values are sealed. */
  envNames: string[];
}

/** A header of a server at a URL, or an environment variable of one that runs as a command. */
export interface ServerValue {
  name: string;
  value: string;
}

/** Headers or environment variables by the name of their server. */
export type McpCredentials = z.infer<typeof credentialsSchema>;

const credentialsSchema = z.record(z.string(), z.array(z.object({ name: z.string(), value: z.string() })));

/**
 * A server as it is set. One without `headers` or `env` keeps those that it has, as long as its address and its command
 * stay the same.
 */
type NewMcpServer = Omit<McpServer, 'headerNames' | 'envNames'> & {
  headers?: ServerValue[];
  env?: ServerValue[];
};

/** Servers that were stored before they could run as a command have neither of the two fields. */
type StoredServer = Omit<McpServer, 'command' | 'envNames'> & Partial<McpServer>;

interface ToolsRow {
  servers: StoredServer[];
  credentials: string | null;
}

const columns = `coalesce(tools.servers, '[]') as servers, tools.credentials`;
const joined = 'projects left join project_tools as tools on tools.project_id = projects.id';

export type ProjectToolStore = ReturnType<typeof createProjectToolStore>;

export function createProjectToolStore(pool: Pool, box: Pick<SecretBox, 'seal' | 'open'>) {
  return {
    /** Null when there is no such project. */
    async servers({ organizationId }: Owner, projectId: string): Promise<McpServer[] | null> {
      if (!canBeId(projectId)) return null;
      const { rows } = await pool.query<ToolsRow>(
        `select ${columns} from ${joined} where projects.id = $1 and organization_id = $2`,
        [projectId, organizationId],
      );
      return rows[0]?.servers.map(serverOf) ?? null;
    },

    /** Replaces the servers; null when there is no such project. Throws SealedError. */
    async replaceServers(caller: Caller, projectId: string, servers: NewMcpServer[]): Promise<McpServer[] | null> {
      if (!canBeId(projectId)) return null;
      return withTransaction(pool, async (client) => {
        const { rows } = await client.query<ToolsRow>(
          `select ${columns} from ${joined} where projects.id = $1 and organization_id = $2 for update of projects`,
          [projectId, caller.organizationId],
        );
        const [before] = rows;
        if (before === undefined) return null;
        const known = openCredentials(box, projectId, before.credentials);
        const entries = servers.map(({ headers, env, ...server }) => {
          const isSame = before.servers.map(serverOf).some((earlier) => hasSameTarget(earlier, server));
          // a stored credential is never given to another address or command than the one it was entered for
          return { server, values: headers ?? env ?? (isSame ? known[server.name] : undefined) ?? [] };
        });
        const credentials = Object.fromEntries(
          entries.flatMap(({ server, values }) => (values.length === 0 ? [] : [[server.name, values]])),
        );
        const stored = entries.map(({ server, values }): McpServer => {
          const names = values.map(({ name }) => name);
          const isCommand = server.command !== null;
          return { ...server, headerNames: isCommand ? [] : names, envNames: isCommand ? names : [] };
        });
        const sealed =
          Object.keys(credentials).length === 0
            ? null
            : box.seal(JSON.stringify(credentials), projectToolsOwner(projectId));
        await client.query(
          `insert into project_tools (project_id, servers, credentials) values ($1, $2, $3)
           on conflict (project_id) do update set servers = excluded.servers, credentials = excluded.credentials`,
          [projectId, toStoredJson(stored), sealed],
        );
        const details = { servers: stored.map(({ name, url, command }) => ({ name, url, command })) };
        await writeAudit(client, caller, { action: 'project.mcp-servers', subject: projectId, details });
        return stored;
      });
    },
  };
}

/** Reads the MCP servers of a job's project with their credentials. Throws SealedError. */
export async function readToolsOfProject(
  pool: Pool,
  box: Pick<SecretBox, 'open'>,
  projectId: string,
): Promise<{ servers: McpServer[]; credentials: McpCredentials }> {
  const { rows } = await pool.query<ToolsRow>(`select ${columns} from ${joined} where projects.id = $1`, [projectId]);
  const { servers, credentials } = rows[0] ?? { servers: [], credentials: null };
  return { servers: servers.map(serverOf), credentials: openCredentials(box, projectId, credentials) };
}

function serverOf(stored: StoredServer): McpServer {
  return { command: null, envNames: [], ...stored };
}

function hasSameTarget(a: NewMcpServer, b: NewMcpServer): boolean {
  const targetOf = ({ name, url, command }: NewMcpServer) => JSON.stringify([name, url, command]);
  return targetOf(a) === targetOf(b);
}

/** Decrypts the headers and environment variables of a project's servers. Throws SealedError. */
export function openCredentials(
  box: Pick<SecretBox, 'open'>,
  projectId: string,
  sealed: string | null,
): McpCredentials {
  if (sealed === null) return {};
  return credentialsSchema.parse(JSON.parse(box.open(sealed, projectToolsOwner(projectId))));
}
