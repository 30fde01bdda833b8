import { z } from 'zod';
import type { ProjectToolStore } from '../../db/organizations/project-tools.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { projectNotFound } from '../http/errors.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { changeServersSchema, serversSchema } from './mcp-server-schemas.ts';

const params = { id: z.string().meta({ description: 'The project identifier.' }) };
const servers = json('The MCP servers.', serversSchema);

/** Routes for the MCP servers that a project's agents may use. */
export const mcpServerRoutes = {
  getProjectMcpServers: defineRoute({
    method: 'get',
    path: '/v1/projects/{id}/mcp-servers',
    summary: "Returns the MCP servers of a project's agents.",
    params,
    responses: { 200: servers },
  }),
  changeProjectMcpServers: defineRoute({
    method: 'patch',
    path: '/v1/projects/{id}/mcp-servers',
    summary: "Replaces the list of MCP servers of a project's agents.",
    description: 'The tools of a turn are pinned when it begins.',
    params,
    body: changeServersSchema,
    maxBytes: 512 * 1024,
    responses: { 200: servers },
  }),
};

export function createMcpServerRouter({ admit, tools }: { admit: Admission; tools: ProjectToolStore }): AppRouter {
  return mountRoutes(admit, mcpServerRoutes, {
    async getProjectMcpServers({ caller, params: { id } }) {
      const found = await tools.servers(caller, id);
      if (found === null) throw projectNotFound();
      return { servers: found };
    },

    async changeProjectMcpServers({ caller, params: { id }, body: read }) {
      const { servers } = await read();
      const stored = await tools.replaceServers(caller, id, servers);
      if (stored === null) throw projectNotFound();
      return { servers: stored };
    },
  });
}
