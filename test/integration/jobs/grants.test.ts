import { defaultTreeLimits } from '../../../activities/workspaces/tree-limits.ts';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createGrantedAccess } from '../../../activities/job/granted-access.ts';
import { mergeBranch } from '../../../activities/workspaces/merge-branch.ts';
import { createTestGit } from '../../support/git.ts';
import { createGrantAdministration } from '../../../db/for-operator/grants.ts';
import { createPullRequestMergeStore } from '../../../db/for-worker/pull-request-merges.ts';
import { createMergeChores } from '../../../worker/chores/merge-chores.ts';
import { buildJob, buildKey, buildOrganization, buildProject, buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createFakeGithub } from '../../support/forges/fake-github.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../support/stack/worker.ts';
import { writing } from '../../support/writing-script.ts';
import { serveApi } from '../api/serve.ts';
import { startSiteWorker } from '../sites/site-worker.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** Two organizations, a folder of repositories in which each has a path, and the API of both. */
async function openScene() {
  await using resources = new AsyncDisposableStack();
  const root = temporaryDirectory();
  const database = resources.use(await createTestDatabase());
  const api = resources.use(await serveApi(database.pool, { DOCKET_LOCAL_REPOSITORIES: root }));
  for (const name of ['a', 'b']) await mkdir(join(root, name));
  const lamp = join(root, 'a/lamp.git');
  const made = resources.use(
    await createTestRepository({ 'README.md': '# Lamp\n', 'docs/a.md': '# Lamp\n\nThe secret.\n' }),
  );
  await rename(made.path, lamp);
  const organization = async (name: string) => {
    const { id: organizationId } = await buildOrganization(database.pool, { grants: [join(root, name, '*')] });
    const { key } = await buildKey(database.pool, { organizationId });
    const ask = (path: string, json?: unknown, method?: string) => api.ask(path, { key, json, method });
    return { organizationId, ask };
  };
  const [a, b] = [await organization('a'), await organization('b')];
  const running = resources.move();
  return { root, lamp, database, pool: database.pool, a, b, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

it('keeps the repositories and directories of one organization from another, over HTTP', async () => {
  await using scene = await openScene();
  const { root, lamp, a, b } = scene;
  expect((await a.ask('/v1/projects', { repository: lamp })).status).toBe(201);
  const own = (await b.ask('/v1/projects', { repository: join(root, 'b/own.git') })).body;
  expect(own.repository).toBe(pathToFileURL(join(root, 'b/own.git')).href);
  const answers = async (path: (repository: string) => [string, unknown, string?]) => {
    const [foreign, missing] = [lamp, join(root, 'a/none.git')];
    const [one, other] = [await b.ask(...path(foreign)), await b.ask(...path(missing))];
    // byte for byte, except for the requested name
    expect(one.text.replaceAll(foreign, '…')).toBe(other.text.replaceAll(missing, '…'));
    expect([one.status, one.body.error]).toEqual([
      400,
      expect.stringMatching(/^There is no \w+ [^\n]+ that the organization may use/),
    ]);
    expect(other.status).toBe(400);
  };
  await answers((repository) => ['/v1/projects', { repository }]);
  await answers((repository) => [
    '/v1/projects',
    { repository: join(root, 'b/x.git'), allowedRepositories: [repository] },
  ]);
  await answers((repository) => [`/v1/projects/${own.id}`, { allowedRepositories: [repository] }, 'PATCH']);
  await answers((repository) => ['/v1/sites', { domain: 'evil', repository }]);
  await answers((directory) => ['/v1/sites', { domain: 'evil', directory }]);
  const site = await buildSite(scene.pool, { organizationId: b.organizationId });
  await answers((repository) => [`/v1/sites/${site.domain}`, { repository }, 'PATCH']);
  await answers((directory) => [`/v1/sites/${site.domain}`, { directory }, 'PATCH']);
  // other spellings of the foreign path, and of its own
  for (const path of ['b/../a/lamp.git', 'a//lamp.git', './a/lamp.git', 'A/lamp.git', 'a/lamp', 'a/lamp.git/', 'b'])
    expect((await b.ask('/v1/projects', { repository: `${root}/${path}` })).status, path).toBe(400);
  expect((await b.ask('/v1/projects', { repository: `${root}/b/own.git/` })).body.repository).toBe(own.repository);

  // a project that names it anyway: a grant that is gone, or a row that was changed
  await scene.pool.query('update projects set repository = $2, allowed_repositories = $3 where id = $1', [
    own.id,
    lamp,
    [lamp],
  ]);
  for (const source of [undefined, { repository: lamp }])
    expect((await b.ask(`/v2/agent/${own.id}/job`, { prompt: 'Read it', source })).status).toBe(400);
  await createGrantAdministration(scene.pool).grant(b, `${root}/a/*`);
  expect((await b.ask(`/v2/agent/${own.id}/job`, { prompt: 'Read it' })).status).toBe(201);
});

it('denies the worker’s credential without a grant, over HTTP', async () => {
  await using scene = await openScene();
  const { b, pool } = scene;
  const repository = 'https://github.com/acme/private';
  const remedy = `Give the project its own token, or ask the operator to run "docket org grant ${b.organizationId} ${repository}".`;
  const refused = await b.ask('/v1/projects', { repository });
  expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining(remedy)]);
  expect((await b.ask('/v1/sites', { domain: 'public', repository })).status).toBe(201);

  const own = await b.ask('/v1/projects', { repository, forgeToken: 'ghp_of_the_project' });
  expect(own.status).toBe(201);
  const path = `/v1/projects/${own.body.id}`;
  // a token is sent to the server that it was given for; it can be removed at any time
  const elsewhere = { forgeUrl: 'https://git.example.com' };
  const moved = await b.ask(path, elsewhere, 'PATCH');
  expect([moved.status, moved.body.error]).toEqual([400, expect.stringContaining('Set the token of the new forge')]);
  expect((await b.ask(path, { ...elsewhere, forgeToken: 'ghp_of_the_other' }, 'PATCH')).status).toBe(200);
  const unchanged = { name: 'Renamed', allowedRepositories: [], ...elsewhere };
  expect((await b.ask(path, unchanged, 'PATCH')).status).toBe(200);
  expect((await b.ask(path, { forgeToken: null }, 'PATCH')).body.hasForgeToken).toBe(false);
  expect((await b.ask(path, unchanged, 'PATCH')).status).toBe(200);
  const without = await b.ask(`/v2/agent/${own.body.id}/job`, { prompt: 'Go' });
  expect([without.status, without.body.error]).toEqual([400, expect.stringContaining('docket org grant')]);

  const operator = createGrantAdministration(pool);
  await operator.grant(b, 'https://github.com/acme/*');
  const granted = await b.ask('/v1/projects', { repository: 'https://GitHub.com/Acme/Private.git/' });
  expect(granted.status).toBe(201);
  await operator.revoke(b, 'https://github.com/acme/*');
  const job = await b.ask(`/v2/agent/${granted.body.id}/job`, { prompt: 'Go' });
  expect([job.status, job.body.error]).toEqual([400, expect.stringContaining('docket org grant')]);
  // the project that it opened can still be renamed, and completed
  expect((await b.ask(`/v1/projects/${granted.body.id}`, { name: 'x' }, 'PATCH')).status).toBe(200);
  expect((await b.ask(`/v1/projects/${granted.body.id}`, { forgeToken: 'ghp_another' }, 'PATCH')).status).toBe(200);
});

it('the worker checks grants at each use: jobs, messages, merges and sites', { tags: 'slow' }, async () => {
  await using scene = await openScene();
  const { lamp, pool, database, a, b, root } = scene;
  await using model = await startScriptedModelServer();
  await using worker = await startTestWorker({
    database,
    modelUrl: model.baseUrl,
    change: () => ({ roots: { repositories: root, directories: root } }),
  });
  const model1 = { model: 'compatible/scripted' };
  const run = async (organizationId: string) => {
    const project = await buildProject(pool, { organizationId, repository: lamp, forge: 'local' });
    const { id } = await buildJob(pool, project, model1);
    await worker.startJob(id);
    return worker.ended(id);
  };
  // rows that no request could have created
  expect(await run(b.organizationId)).toMatchObject({
    status: 'failed',
    failureCategory: 'repository_unreachable',
    message: expect.stringContaining(`There is no repository ${lamp} that the organization may use`),
  });
  expect(model.requests).toEqual([]);
  model.script(...writing);
  const job = await run(a.organizationId);
  expect(job).toMatchObject({ status: 'completed', prState: 'open' });

  // once the grant is revoked, no running job, message or merge opens the repository
  const operator = createGrantAdministration(pool);
  model.script(async () => {
    await operator.revoke(a, `${root}/a/*`);
    return { toolCalls: [{ name: 'read', input: { path: 'docs/a.md' } }] };
  });
  expect(await run(a.organizationId)).toMatchObject({ status: 'failed', failureCategory: 'repository_unreachable' });
  expect(JSON.stringify(model.requests)).not.toContain('The secret.');
  expect(await worker.followUp(job.id, 'Once more')).toMatchObject({ failureCategory: 'repository_unreachable' });
  const merges = createPullRequestMergeStore(pool);
  const git = createTestGit({ home: join(root, 'git-home'), transports: ['file'] });
  const granted = createGrantedAccess({
    ...worker.deps,
    projects: { ...worker.deps.projects, list: async () => [] },
  });
  await using _chores = createMergeChores({
    merges,
    granted,
    mergeBranch: (merge) => mergeBranch(git, { directory: root, limits: defaultTreeLimits }, merge),
    checkMerge: async () => null,
    deleteBranch: async () => undefined,
    log: pino({ level: 'silent' }),
    everyMs: 20,
  });
  const asked = () => a.ask(`/v1/pull-requests/${job.prId}`).then(({ body }) => body);
  await a.ask(`/v1/pull-requests/${job.prId}/merge`, {});
  await expect.poll(async () => (await asked()).merge.problem).toContain('There is no repository');
  expect((await asked()).state).toBe('open');
  await operator.grant(a, `${root}/a/*`);
  await a.ask(`/v1/pull-requests/${job.prId}/merge`, {});
  await expect.poll(async () => (await asked()).state).toBe('merged');

  await using sites = await startSiteWorker({ database, siteDirectories: root });
  for (const source of [{ repository: lamp }, { repository: undefined, directory: `${root}/a` }]) {
    const refused = await buildSite(pool, { organizationId: b.organizationId, ...source });
    expect((await sites.failure(refused)).message).toMatch(/^There is no (?:repository|directory) /);
    const allowed = await buildSite(pool, { organizationId: a.organizationId, ...source });
    if (source.repository !== undefined) expect(await sites.index(allowed)).toMatchObject({ version: 1 });
  }
});

async function expectNoEffect(effect: 'push' | 'pull request'): Promise<void> {
  await using scene = await openScene();
  const { lamp, pool, database, a, root } = scene;
  await using model = await startScriptedModelServer();
  model.script(...writing);
  const revoke = () => createGrantAdministration(pool).revoke(a, `${root}/a/*`);
  await using worker = await startTestWorker({
    database,
    modelUrl: model.baseUrl,
    change: ({ workspaces, forges }) => ({
      roots: { repositories: root, directories: root },
      workspaces: {
        ...workspaces,
        publish: (request) =>
          workspaces.publish({
            ...request,
            async beforePush() {
              if (effect === 'push') await revoke();
              await request.beforePush();
            },
          }),
      },
      forges: {
        ...forges,
        forProject(...of) {
          const forge = forges.forProject(...of);
          return {
            ...forge,
            async ensurePullRequest(request) {
              await revoke();
              return forge.ensurePullRequest(request);
            },
          };
        },
      },
    }),
  });
  const project = await buildProject(pool, { organizationId: a.organizationId, repository: lamp, forge: 'local' });
  const { id } = await buildJob(pool, project, { model: 'compatible/scripted' });
  await worker.startJob(id);
  expect(await worker.ended(id)).toMatchObject({
    status: 'failed',
    failureCategory: 'repository_unreachable',
    prId: null,
  });
  expect(await readdir(join(lamp, 'refs/heads'))).toEqual(effect === 'push' ? ['main'] : ['docket', 'main']);
  const { rows } = await pool.query('select count(*)::int as count from pull_requests where repository = $1', [lamp]);
  expect(rows).toEqual([{ count: 0 }]);
}

it.each(['push'] as const)(
  'makes no %s once the grant has been revoked, even if it was valid at the start',
  expectNoEffect,
);
it.each(['pull request'] as const)(
  'makes no %s once the grant has been revoked, even if it was valid at the start',
  { tags: 'slow' },
  expectNoEffect,
);

it('contacts a forge with the worker’s token only under a grant', async () => {
  await using database = await createTestDatabase();
  await using github = await createFakeGithub();
  await using model = await startScriptedModelServer();
  const { url } = await github.addRepository('acme/lamp', { 'README.md': '# Lamp\n' });
  const servers = { github: { token: github.token, apiUrl: github.apiUrl, app: null } };
  await using worker = await startTestWorker({ database, modelUrl: model.baseUrl, servers });
  const { id: organizationId } = await buildOrganization(database.pool, {
    grants: [`${new URL(url).origin}/acme/other`],
  });
  const project = await buildProject(database.pool, { organizationId, repository: url });
  const run = async () => {
    const { id } = await buildJob(database.pool, project, { model: 'compatible/scripted' });
    await worker.startJob(id);
    return worker.ended(id);
  };
  expect(await run()).toMatchObject({
    failureCategory: 'authentication_refused',
    message: expect.stringContaining(`docket org grant ${organizationId} ${url}`),
  });
  expect(github.requests).toEqual([]);
  await createGrantAdministration(database.pool).grant({ organizationId }, `${new URL(url).origin}/acme/*`);
  model.script(...writing);
  expect(await run()).toMatchObject({ status: 'completed' });
});
