import type { GrantStore } from '../../db/organizations/grants.ts';
import type { Owner } from '../../db/caller.ts';
import type { ForgeKind, ProjectChange, ProjectRow, ProjectStore } from '../../db/organizations/projects.ts';
import { nameOfRepository, wellKnownForges } from '../../lib/inputs/administration.ts';
import { addedRepositories, problemWithToken } from '../../lib/inputs/grants.ts';
import { parseRepository, type RepositoryRules } from '../../lib/inputs/repository.ts';
import { problemWithSsh } from '../../lib/inputs/ssh-keys.ts';
import { z } from 'zod';
import { canBeId } from '../../db/ids.ts';
import type { ProjectRepositoryStore } from '../../db/organizations/project-repository.ts';
import type { Erasure } from '../../db/organizations/erasure.ts';
import type { Admission } from '../access/request-access.ts';
import type { AppRouter } from '../http/app-context.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { checkBudgets, microsOf, type BudgetCeilings } from './budget-ceilings.ts';
import { invalidRequest, projectNotFound } from '../http/errors.ts';
import { createGrantChecks } from './grant-checks.ts';
import { namedModels } from './named-models.ts';
import { listQuerySchema } from '../http/page-schemas.ts';
import { pageOf } from '../http/page-of.ts';
import { presentProject } from './present-administration.ts';
import {
  changeProjectSchema,
  createProjectSchema,
  projectListSchema,
  projectSchema,
  repositoryNamesSchema,
  type ChangeProjectBody,
} from './project-schemas.ts';

const params = { id: z.string().meta({ description: 'The project identifier.' }) };
const project = json('The project.', projectSchema);
const maxBytes = 256 * 1024;

/** Routes for the organization's projects. A project is a repository with settings for the jobs on it. */
export const projectRoutes = {
  listProjects: defineRoute({
    method: 'get',
    path: '/v1/projects',
    summary: 'Lists the projects of the organization.',
    query: listQuerySchema,
    responses: { 200: json('A page of projects, oldest first.', projectListSchema) },
  }),
  createProject: defineRoute({
    method: 'post',
    path: '/v1/projects',
    summary: 'Creates a project.',
    body: createProjectSchema,
    example: { repository: 'https://github.com/acme/lamp' },
    maxBytes,
    responses: { 201: project },
    errors: [404, 409],
  }),
  getProject: defineRoute({
    method: 'get',
    path: '/v1/projects/{id}',
    summary: 'Returns a project.',
    params,
    responses: { 200: project },
  }),
  getProjectRepository: defineRoute({
    method: 'get',
    path: '/v1/projects/{id}/repository',
    summary: "Returns branches and documents of a project's repository, as suggestions for a job.",
    description: 'As they were when the newest job on the repository began; empty before the first one.',
    params,
    responses: { 200: json('The branches and documents.', repositoryNamesSchema) },
  }),
  changeProject: defineRoute({
    method: 'patch',
    path: '/v1/projects/{id}',
    summary: 'Changes a project. Omitted fields keep their values.',
    params,
    body: changeProjectSchema,
    maxBytes,
    responses: { 200: project },
    errors: [409],
  }),
  deleteProject: defineRoute({
    method: 'delete',
    path: '/v1/projects/{id}',
    summary: 'Deletes a project permanently, with its jobs, webhooks and credentials.',
    description: 'Active jobs are stopped first. The repository and what jobs published to the forge remain.',
    params,
    responses: { 204: { description: 'The project is deleted.' } },
  }),
};

export interface ProjectRouteDeps {
  admit: Admission;
  projects: ProjectStore;
  repositoryNames: ProjectRepositoryStore;
  grants: GrantStore;
  repositories: RepositoryRules;
  problemWithModel: (name: string) => string | null;
  budgets: BudgetCeilings;
  erasure: Pick<Erasure, 'project'>;
  /** Called after the cancellation of workflows has been recorded. */
  onCancelled: () => void;
}

export function createProjectsRouter(deps: ProjectRouteDeps): AppRouter {
  const { projects } = deps;
  const { checkRepositories } = createGrantChecks(deps);

  async function projectOf(owner: Owner, id: string): Promise<ProjectRow> {
    const found = await projects.get(owner, id);
    if (found === null) throw projectNotFound();
    return found;
  }

  function repositoryOf(text: string) {
    const parsed = parseRepository(text, { ...deps.repositories, mayUseSsh: true });
    if (!parsed.ok) throw invalidRequest(parsed.problem);
    return parsed;
  }

  function changeOf(body: Omit<ChangeProjectBody, 'repository'>): ProjectChange {
    const { model, models, allowedRepositories, jobBudgetUsd, dailyBudgetUsd, plan, ask, ...change } = body;
    const named = namedModels({ model, models }, deps.problemWithModel);
    const checked = {
      ...change,
      ...(named !== undefined && { model: named?.[0] ?? null, fallbackModels: named?.slice(1) ?? [] }),
      ...(allowedRepositories && {
        allowedRepositories: allowedRepositories.map((text) => repositoryOf(text).repository),
      }),
      ...(plan !== undefined && { planReview: plan === 'review' }),
      ...(ask !== undefined && { mayAsk: ask }),
      ...(jobBudgetUsd !== undefined && { jobBudgetMicros: microsOf(jobBudgetUsd) }),
      ...(dailyBudgetUsd !== undefined && { dailyBudgetMicros: microsOf(dailyBudgetUsd) }),
    };
    checkBudgets(checked, deps.budgets);
    return checked;
  }

  return mountRoutes(deps.admit, projectRoutes, {
    async listProjects({ caller, query }) {
      const { rows, nextCursor } = await pageOf(() => projects.list(caller, query));
      return { projects: rows.map(presentProject), nextCursor };
    },

    async createProject({ ctx, caller, body: read }) {
      const body = await read();
      const { repository: address, forge: named, ...settings } = body;
      const parsed = repositoryOf(address);
      const forge = parsed.kind === 'local' ? 'local' : (named ?? wellKnownForges[parsed.host]);
      if (forge === undefined)
        throw invalidRequest("forge is missing and cannot be detected from the repository's host. Set it.");
      checkForge({ kind: parsed.kind, forge: named ?? forge, token: body.forgeToken ?? null });
      const change = changeOf(settings);
      const hasKey = (body.sshKey ?? null) !== null;
      checkSsh({ repository: parsed.repository, allowedRepositories: [], sshKnownHosts: [], ...change }, hasKey);
      await checkRepositories(caller, {
        repositories: [parsed.repository, ...(change.allowedRepositories ?? [])],
        forgeUrl: change.forgeUrl,
        needsCredential: (body.forgeToken ?? null) === null,
      });
      const created = await projects.create(caller, {
        name: nameOfRepository(parsed.repository),
        defaultRef: null,
        model: null,
        allowedRepositories: [],
        ...change,
        repository: parsed.repository,
        forge,
      });
      ctx.set('Location', `/v1/projects/${created.id}`);
      return presentProject(created);
    },

    async getProject({ caller, params }) {
      return presentProject(await projectOf(caller, params.id));
    },

    async getProjectRepository({ caller, params: { id } }) {
      const found = await deps.repositoryNames.get(caller, id);
      if (found === null) throw projectNotFound();
      return found;
    },

    async changeProject({ caller, params, body }) {
      const project = await projectOf(caller, params.id);
      const { repository: address, ...settings } = await body();
      const { forgeToken, sshKey } = settings;
      const moved = address === undefined ? null : repositoryOf(address);
      checkForge({ kind: moved?.kind ?? null, forge: project.forge, token: forgeToken ?? null });
      const named = moved === null || moved.kind === 'local' ? undefined : wellKnownForges[moved.host];
      if (named !== undefined && named !== project.forge)
        throw invalidRequest('The repository is on another forge. Create a project for it.');
      const change = { ...changeOf(settings), ...(moved !== null && { repository: moved.repository }) };
      checkSsh({ ...project, ...change }, sshKey === undefined ? project.hasSshKey : sshKey !== null);
      const after = { ...project, ...change };
      const problem = problemWithToken(project, after, forgeToken !== undefined);
      if (problem !== null) throw invalidRequest(problem);
      await checkRepositories(caller, {
        repositories: addedRepositories(project, after),
        forgeUrl: after.forgeUrl,
        needsCredential: forgeToken === undefined ? !project.hasCredential : forgeToken === null,
      });
      const changed = await projects.update(caller, project.id, change);
      if (changed === null) throw projectNotFound();
      return presentProject(changed);
    },

    async deleteProject({ caller, params: { id } }) {
      if (!canBeId(id) || !(await deps.erasure.project(caller, id))) throw projectNotFound();
      deps.onCancelled();
    },
  });
}

function checkSsh(
  project: Pick<ProjectRow, 'repository' | 'allowedRepositories' | 'sshKnownHosts'>,
  hasKey: boolean,
): void {
  const repositories = [project.repository, ...project.allowedRepositories];
  const problem = problemWithSsh({ repositories, hasKey, knownHosts: project.sshKnownHosts });
  if (problem !== null) throw invalidRequest(problem);
}

function checkForge({
  kind,
  forge,
  token,
}: {
  kind: 'https' | 'ssh' | 'local' | null;
  forge: ForgeKind;
  token: string | null;
}) {
  if ((kind === 'https' || kind === 'ssh') && forge === 'local')
    throw invalidRequest(`forge must not be local for an ${kind} repository.`);
  if (kind === 'local' && forge !== 'local')
    throw invalidRequest('forge must be local for a repository on this machine.');
  if (forge === 'local' && token !== null)
    throw invalidRequest('forgeToken must be left out: the local forge needs none.');
}
