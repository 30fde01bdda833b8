import { z } from 'zod';
import { maxSecrets, type SetupSecret, type SetupSecretStore } from '../../db/organizations/setup-secrets.ts';
import { isVariableName } from '../../lib/environments/variable-name.ts';
import { secretValueSchema } from '../../lib/inputs/mcp.ts';
import { time } from '../../lib/time-schemas.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { closedBody } from '../http/closed-object.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { ApiError, invalidRequest, projectNotFound } from '../http/errors.ts';
import { mountRoutes } from '../http/mount-routes.ts';

const id = z.string().meta({ description: 'The project identifier.' });
const named = { id, name: z.string().meta({ description: 'Name of the environment variable.' }) };
const secretSchema = z.object({ name: z.string(), updatedAt: time });
const bodySchema = closedBody({
  name: z.string().max(100).meta({ description: 'Name of the environment variable.' }),
  value: secretValueSchema.meta({ writeOnly: true, description: 'The value; it is never returned.' }),
});

/** Routes for the setup secrets of a project, which agents cannot read. */
export const projectSecretRoutes = {
  listProjectSecrets: defineRoute({
    method: 'get',
    path: '/v1/projects/{id}/secrets',
    summary: 'Lists the setup secrets of a project, without their values.',
    params: { id },
    responses: {
      200: json('The secrets, by name.', z.object({ secrets: z.array(secretSchema).max(maxSecrets) })),
    },
  }),
  setProjectSecret: defineRoute({
    method: 'post',
    path: '/v1/projects/{id}/secrets',
    summary: 'Creates or replaces a setup secret of a project.',
    description: 'The setup of jobs has it as an environment variable. Agents cannot read it.',
    params: { id },
    body: bodySchema,
    maxBytes: 256 * 1024,
    responses: { 200: json('The secret, without its value.', secretSchema) },
    errors: [409],
  }),
  deleteProjectSecret: defineRoute({
    method: 'delete',
    path: '/v1/projects/{id}/secrets/{name}',
    summary: 'Deletes a setup secret of a project.',
    params: named,
    responses: { 204: { description: 'The secret is deleted.' } },
  }),
};

export interface ProjectSecretRouteDeps {
  admit: Admission;
  setupSecrets: SetupSecretStore;
}

export function createProjectSecretRouter({ admit, setupSecrets: store }: ProjectSecretRouteDeps): AppRouter {
  return mountRoutes(admit, projectSecretRoutes, {
    async listProjectSecrets({ caller, params }) {
      const found = await store.list(caller, params.id);
      if (found === null) throw projectNotFound();
      return { secrets: found.map(presentSecret) };
    },

    async setProjectSecret({ caller, params: { id: projectId }, body: read }) {
      const { name, value } = await read();
      if (!isVariableName(name))
        throw invalidRequest(
          'The name of a secret must have 1 to 100 letters, digits or _, and must not be a variable that the sandbox or the shell sets.',
        );
      const stored = await store.set(caller, projectId, { name, value });
      if (stored === null) throw projectNotFound();
      if (stored === 'full') throw new ApiError(409, `A project has at most ${maxSecrets} secrets. Delete one first.`);
      return presentSecret(stored);
    },

    async deleteProjectSecret({ caller, params: { id: projectId, name } }) {
      if (await store.remove(caller, projectId, name)) return;
      if ((await store.list(caller, projectId)) === null) throw projectNotFound();
      throw new ApiError(404, 'The secret does not exist.');
    },
  });
}

function presentSecret({ name, updatedAt }: SetupSecret) {
  return { name, updatedAt: updatedAt.toISOString() };
}
