import type { GrantStore } from '../../db/organizations/grants.ts';
import type { ForgeKind, ProjectChange, ProjectRow, ProjectStore } from '../../db/organizations/projects.ts';
import { nameOfRepository, wellKnownForges } from '../../lib/inputs/administration.ts';
import { addedRepositories, problemWithToken } from '../../lib/inputs/grants.ts';
import { parseRepository, type RepositoryRules } from '../../lib/inputs/repository.ts';
import { problemWithSsh } from '../../lib/inputs/ssh-keys.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import { checkBudgets, type BudgetCeilings } from './budget-ceilings.ts';
import { invalidRequest, projectNotFound } from '../http/errors.ts';
import { createGrantChecks } from './grant-checks.ts';
import { readJsonBody } from '../http/json-body.ts';
import type { ApiCaller } from '../access/api-caller.ts';
import { listQuerySchema } from '../http/page-schemas.ts';
import { pageOf } from '../http/page-of.ts';
import type { Authenticate } from '../access/authentication.ts';
import { presentProject } from './present-administration.ts';
import { changeProjectSchema, createProjectSchema, type ChangeProjectBody } from './project-schemas.ts';

export interface ProjectRouteDeps {
  authenticate: Authenticate;
  projects: ProjectStore;
  grants: GrantStore;
  repositories: RepositoryRules;
  problemWithModel: (name: string) => string | null;
  budgets: BudgetCeilings;
}

const largestBody = 256 * 1024;
const base = '/v1/projects';

/** Projects of the organization: a repository, and how jobs on it are run. */
export function createProjectsRouter(deps: ProjectRouteDeps): AppRouter {
  const { authenticate, projects } = deps;
  const { checkRepositories } = createGrantChecks(deps);
  const router = createRouter();

  async function projectOf(ctx: AppContext, id = ''): Promise<{ caller: ApiCaller; project: ProjectRow }> {
    const caller = await authenticate(ctx.req, 'admin');
    const project = await projects.get(caller, id);
    if (project === null) throw projectNotFound();
    ctx.set('Cache-Control', 'no-store');
    return { caller, project };
  }

  function repositoryOf(text: string) {
    const parsed = parseRepository(text, { ...deps.repositories, mayUseSsh: true });
    if (!parsed.ok) throw invalidRequest(parsed.problem);
    return parsed;
  }

  function changeOf(body: Omit<ChangeProjectBody, 'repository'>): ProjectChange {
    const { allowedRepositories, jobBudgetUsd, dailyBudgetUsd, ...change } = body;
    const problem = typeof body.model === 'string' ? deps.problemWithModel(body.model) : null;
    if (problem !== null) throw invalidRequest(problem);
    const checked = {
      ...change,
      ...(allowedRepositories && {
        allowedRepositories: allowedRepositories.map((text) => repositoryOf(text).repository),
      }),
      ...(jobBudgetUsd !== undefined && { jobBudgetMicros: microsOf(jobBudgetUsd) }),
      ...(dailyBudgetUsd !== undefined && { dailyBudgetMicros: microsOf(dailyBudgetUsd) }),
    };
    checkBudgets(checked, deps.budgets);
    return checked;
  }

  router.get(base, async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    ctx.set('Cache-Control', 'no-store');
    const query = listQuerySchema.parse({ ...ctx.query });
    const { rows, nextCursor } = await pageOf(() => projects.list(caller, query));
    ctx.body = { projects: rows.map(presentProject), nextCursor };
  });

  router.post(base, async (ctx) => {
    const caller = await authenticate(ctx.req, 'admin');
    const body = createProjectSchema.parse(await readJsonBody(ctx.req, { maxBytes: largestBody }));
    const { repository: address, forge: named, ...settings } = body;
    const parsed = repositoryOf(address);
    const forge = parsed.kind === 'local' ? 'local' : (named ?? wellKnownForges[parsed.host]);
    if (forge === undefined) throw invalidRequest('forge is missing; the host of the repository does not tell it.');
    checkForge({ kind: parsed.kind, forge: named ?? forge, token: body.forgeToken ?? null });
    const change = changeOf(settings);
    const hasKey = (body.sshKey ?? null) !== null;
    checkSsh({ repository: parsed.repository, allowedRepositories: [], sshKnownHosts: [], ...change }, hasKey);
    await checkRepositories(caller, {
      repositories: [parsed.repository, ...(change.allowedRepositories ?? [])],
      forgeUrl: change.forgeUrl,
      needsCredential: (body.forgeToken ?? null) === null,
    });
    const project = await projects.create(caller, {
      name: nameOfRepository(parsed.repository),
      defaultRef: null,
      model: null,
      allowedRepositories: [],
      ...change,
      repository: parsed.repository,
      forge,
    });
    ctx.status = 201;
    ctx.set('Location', `/v1/projects/${project.id}`);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = presentProject(project);
  });

  router.get(`${base}/:id`, async (ctx) => {
    ctx.body = presentProject((await projectOf(ctx, ctx.params['id'])).project);
  });

  router.patch(`${base}/:id`, async (ctx) => {
    const { caller, project } = await projectOf(ctx, ctx.params['id']);
    const body = changeProjectSchema.parse(await readJsonBody(ctx.req, { maxBytes: largestBody }));
    const { repository: address, ...settings } = body;
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
    ctx.body = presentProject(changed);
  });

  return router;
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

function microsOf(dollars: number | null): number | null {
  return dollars === null ? null : Math.round(dollars * 1e6);
}
