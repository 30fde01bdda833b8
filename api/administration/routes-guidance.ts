import { z } from 'zod';
import type { ProjectGuidanceStore } from '../../db/organizations/project-guidance.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { projectNotFound } from '../http/errors.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { changeGuidanceSchema, guidanceSchema } from './guidance-schemas.ts';

const params = { id: z.string().meta({ description: 'The project identifier.' }) };
const guidance = json('The instructions and skills.', guidanceSchema);

/** Routes for the instructions and skills of a project. */
export const guidanceRoutes = {
  getProjectGuidance: defineRoute({
    method: 'get',
    path: '/v1/projects/{id}/guidance',
    summary: "Returns the instructions and skills for a project's agents.",
    params,
    responses: { 200: guidance },
  }),
  changeProjectGuidance: defineRoute({
    method: 'patch',
    path: '/v1/projects/{id}/guidance',
    summary: "Changes the instructions and skills for a project's agents. Omitted fields keep their values.",
    description: 'A turn of a job uses them as they were when it began.',
    params,
    body: changeGuidanceSchema,
    maxBytes: 2 * 1024 * 1024,
    responses: { 200: guidance },
  }),
};

export function createGuidanceRouter({
  admit,
  guidance: store,
}: {
  admit: Admission;
  guidance: ProjectGuidanceStore;
}): AppRouter {
  return mountRoutes(admit, guidanceRoutes, {
    async getProjectGuidance({ caller, params: { id } }) {
      const found = await store.get(caller, id);
      if (found === null) throw projectNotFound();
      return found;
    },

    async changeProjectGuidance({ caller, params: { id }, body: read }) {
      const changed = await store.change(caller, id, await read());
      if (changed === null) throw projectNotFound();
      return changed;
    },
  });
}
