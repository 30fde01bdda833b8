import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createForges } from '../../../../activities/forges/forges.ts';
import { createLocalForge } from '../../../../activities/forges/local-forge.ts';
import { createGrantedAccess } from '../../../../activities/job/granted-access.ts';
import { deleteBranch } from '../../../../activities/workspaces/merge-branch.ts';
import { defaultTreeLimits } from '../../../../activities/workspaces/tree-limits.ts';
import { pullRequestSchema } from '../../../../api/pull-requests/routes.ts';
import { createGrantAdministration } from '../../../../db/for-operator/grants.ts';
import { createJobBranchStore } from '../../../../db/for-worker/job-branches.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { createProjectCredentialReader, createProjectReader } from '../../../../db/for-worker/projects/projects.ts';
import {
  createPullRequestMergeStore,
  type PullRequestMergeStore,
} from '../../../../db/for-worker/pull-request-merges.ts';
import { createWorkerPullRequestStore } from '../../../../db/for-worker/pull-requests.ts';
import { operatorOf } from '../../../../db/caller.ts';
import { createGrantStore } from '../../../../db/organizations/grants.ts';
import { createSecretBox } from '../../../../lib/encryption/secret-box.ts';
import { createKnownSecrets } from '../../../../lib/redaction/known-secrets.ts';
import { createMergeChores } from '../../../../worker/chores/merge-chores.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { testKeys, testKeysText } from '../../../support/database/encryption.ts';
import { createFakeGithub } from '../../../support/forges/fake-github.ts';
import { createTestGit } from '../../../support/git.ts';
import { loopbackEgress } from '../../../support/servers/loopback.ts';
import { serveApi } from '../serve.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const log = pino({ level: 'silent' });
const head = 'docket/fix';
const patience = { timeout: 60_000 };

/** A job whose pull request is on a server that speaks GitHub's API, and a worker that merges. */
async function openScene() {
  const resources = new AsyncDisposableStack();
  const { pool } = resources.use(await createTestDatabase());
  const api = resources.use(await serveApi(pool, { DOCKET_ENCRYPTION_KEYS: testKeysText('k1') }));
  const github = resources.use(await createFakeGithub());
  const repository = await github.addRepository('acme/lamp', { 'a.txt': 'a\n' });
  await repository.git('update-ref', `refs/heads/${head}`, 'main');
  await repository.commit({ 'a.txt': 'A\n' }, { branch: head });
  const headCommit = await repository.git('rev-parse', head);
  const project = await buildProject(pool, { repository: repository.url, forge: 'github' });
  const operator = createGrantAdministration(pool);
  await operator.grant(operatorOf(project), '*');
  const local = createLocalForge({ pullRequests: createWorkerPullRequestStore(pool), baseUrl: 'http://docket.test' });
  const server = { apiUrl: github.apiUrl, token: github.token, app: null };
  const forges = createForges({ local, github: server, gitlab: null, gitea: null, egress: loopbackEgress });
  const granted = createGrantedAccess({
    forges,
    grants: createGrantStore(pool),
    projects: createProjectReader(pool),
    credentials: createProjectCredentialReader(pool, createSecretBox(testKeys('k1'))),
    problemWithRepository: () => null,
    roots: { repositories: null, directories: null },
    secrets: createKnownSecrets([]),
  });

  const { id: jobId } = await buildJob(pool, project, { title: 'Fix', baseBranch: 'main' });
  const job = { id: jobId, organizationId: project.organizationId, projectId: project.id, repository: repository.url };
  const made = await (await granted.forgeOf(job))!.ensurePullRequest({
    repository: repository.url,
    head,
    base: 'main',
    title: 'Fix',
    body: 'What was asked.',
    previous: [],
    draft: false,
    marks: null,
    signal: AbortSignal.timeout(60_000),
    beforeEffect: async () => {},
  });
  const worked = createWorkerJobStore(pool);
  const ref = { jobId, turn: 1 };
  const publish = (commit = headCommit) =>
    worked.setPublished({
      ...ref,
      branch: head,
      headCommit: commit,
      headTree: 't',
      prId: made.id,
      prLink: made.url,
      prState: 'open',
      prDraft: false,
      prText: { title: 'Fix', body: 'What was asked.' },
      check: null,
    });
  expect(await publish()).toBe(true);
  const id = (await worked.get(jobId))!.pullRequestId!;
  expect((await worked.get(jobId))!.pullRequestNumber).toBe(1);
  const { key } = await buildKey(pool, project);
  const ask = (action = '', json?: object, asKey = key) =>
    api.ask(`/v1/pull-requests/${id}${action}`, { key: asKey, json, ...(action !== '' && { method: 'POST' }) });

  const directory = temporaryDirectory();
  const git = createTestGit({ home: join(directory, 'home'), transports: ['http'], egress: loopbackEgress });
  const unused = () => Promise.reject(new Error('This is for local repositories.'));
  const stored = createPullRequestMergeStore(pool);
  const work = (change: Partial<PullRequestMergeStore> = {}) =>
    createMergeChores({
      merges: { ...stored, ...change },
      granted,
      mergeBranch: unused,
      checkMerge: unused,
      deleteBranch: (merged) => deleteBranch(git, { directory, limits: defaultTreeLimits }, merged),
      log,
      everyMs: 20,
    });
  const merges = () => github.requests.filter(({ operation }) => operation === 'merge');
  const isThere = (branch: string) =>
    repository.git('rev-parse', '--verify', `refs/heads/${branch}`).then(Boolean, () => false);
  return {
    pool,
    api,
    key,
    github,
    repository,
    project,
    operator,
    worked,
    ref,
    publish,
    ask,
    id,
    headCommit,
    work,
    merges,
    isThere,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

it('a pull request on another forge is shown, checked and squashed like a local one, and its branch deleted', async () => {
  await using scene = await openScene();
  const { ask, worked, ref, headCommit, repository, github, merges, isThere } = scene;
  const { body } = await ask();
  expect(pullRequestSchema.strict().parse(body)).toMatchObject({
    number: 1,
    forge: 'github',
    link: `${repository.url}/pull/1`,
    repository: repository.url,
    head,
    headCommit,
    base: 'main',
    title: 'Fix',
    body: 'What was asked.',
    state: 'open',
    job: { id: ref.jobId },
    merge: { isMerging: false, isChecking: false, mergeability: null },
  });
  const other = await buildKey(scene.pool, await buildProject(scene.pool));
  for (const action of ['', '/merge', '/check', '/close', '/ready'])
    expect([action, (await ask(action, undefined, other.key)).status]).toEqual([action, 404]);
  for (const action of ['/close', '/ready']) expect((await ask(action)).status).toBe(409);

  await using _chores = scene.work();
  expect((await ask('/check')).body.merge.isChecking).toBe(true);
  const fine = { problem: null, cause: null, conflicts: [], checkedAt: expect.any(String) };
  await expect.poll(async () => (await ask()).body.merge.mergeability, patience).toEqual(fine);
  expect((await ask('/merge', { method: 'squash', deleteBranch: true, headCommit: 'x' })).body).toEqual({
    error: 'headCommit must be a full commit id: 40 lower-case hexadecimal digits.',
  });
  expect((await ask('/merge', { method: 'squash', deleteBranch: true, headCommit })).status).toBe(202);
  await expect.poll(async () => (await ask()).body.state, patience).toBe('merged');
  expect((await ask()).body.merge.commit).toBe(await repository.git('rev-parse', 'main'));
  expect(await worked.get(ref.jobId)).toMatchObject({ prState: 'merged' });
  expect(merges().map(({ body }) => body)).toEqual([{ merge_method: 'squash', sha: headCommit }]);
  await expect.poll(() => isThere(head), patience).toBe(false);
  expect(await isThere('main')).toBe(true);
  const { rows } = await scene.pool.query(
    `select action, subject from audit_entries where action = 'pull-request.merge'`,
  );
  expect(rows).toEqual([{ action: 'pull-request.merge', subject: scene.id }]);
  expect(github.violations).toEqual([]);
});

it('what was pushed after the person looked is not merged, until the job has taken it over', async () => {
  await using scene = await openScene();
  const { ask, repository, publish, headCommit, merges } = scene;
  await repository.commit({ 'b.txt': 'b\n' }, { branch: head });
  const pushed = await repository.git('rev-parse', head);
  await using _chores = scene.work();
  await ask('/merge', { headCommit });
  await expect.poll(async () => (await ask()).body.merge.problem, patience).toContain('not shown here');
  // nor with the newest commit of the job
  await ask('/merge');
  await expect
    .poll(async () => (await ask()).body.merge, patience)
    .toMatchObject({ isMerging: false, problem: expect.any(String) });
  expect(merges()).toEqual([]);
  await ask('/check');
  await expect
    .poll(async () => (await ask()).body.merge.mergeability, patience)
    .toMatchObject({ problem: expect.stringContaining('not shown here'), cause: 'moved' });
  // the person still looks at the old commit
  await publish(pushed);
  await ask('/merge', { headCommit });
  await expect.poll(async () => (await ask()).body.merge.problem, patience).toContain('not shown here');
  expect(merges()).toEqual([]);
  await ask('/merge', { headCommit: pushed });
  await expect.poll(async () => (await ask()).body.state, patience).toBe('merged');
  expect(merges()).toHaveLength(1);
});

it('a merge whose worker was killed before it recorded it is recorded by another one, without a second merge', async () => {
  await using scene = await openScene();
  const { ask, github, pool, id, merges } = scene;
  const killed = Promise.withResolvers<void>();
  github.fail({ on: 'merge', status: null, after: true });
  await ask('/merge');
  {
    await using _first = scene.work({
      async merged() {
        killed.resolve();
        throw new Error('killed');
      },
    });
    await killed.promise;
  }
  expect((await ask()).body).toMatchObject({ state: 'open', merge: { isMerging: true } });
  // the first worker stopped without a result, so its claim expires
  await pool.query(`update pull_requests set merge_claimed_at = '-infinity' where id = $1`, [id]);
  await using _second = scene.work();
  await expect.poll(async () => (await ask()).body.state, patience).toBe('merged');
  expect(merges()).toHaveLength(1);
});

it('a merge is refused without a grant for the credential, and without a project that uses the forge', async () => {
  await using scene = await openScene();
  const { ask, operator, project, pool, merges, github } = scene;
  await operator.revoke(operatorOf(project), '*');
  await using _chores = scene.work();
  await ask('/merge');
  await expect.poll(async () => (await ask()).body.merge.problem, patience).toContain('grant');
  await operator.grant(operatorOf(project), '*');
  await pool.query(`update projects set forge = 'local' where id = $1`, [project.id]);
  await ask('/merge');
  await expect.poll(async () => (await ask()).body.merge.problem, patience).toContain('no longer uses');
  expect(merges()).toEqual([]);
  await pool.query(`update projects set forge = 'github' where id = $1`, [project.id]);
  github.tokens.clear();
  await ask('/merge');
  await expect.poll(async () => (await ask()).body.merge.problem, patience).toContain('rejected the credential');
  expect((await ask()).body).toMatchObject({ state: 'open' });
  expect(JSON.stringify((await ask()).body)).not.toContain(github.token);
});

it("needs a grant of its own to merge with the worker's credential, but none with the project's token", async () => {
  await using scene = await openScene();
  const { ask, api, key, operator, pool, project, repository, merges, github } = scene;
  const owner = operatorOf(project);
  await operator.revoke(owner, '*');
  await operator.grant(owner, repository.url);
  await using _chores = scene.work();
  await ask('/check');
  const isRefused = expect.stringContaining(`no grant to merge into ${repository.url} with`);
  await expect
    .poll(async () => (await ask()).body.merge.mergeability, patience)
    .toMatchObject({ problem: isRefused, cause: 'access' });
  await ask('/merge');
  await expect.poll(async () => (await ask()).body.merge.problem, patience).toEqual(isRefused);
  expect(merges()).toEqual([]);
  await operator.grant(owner, `merge:${repository.url}`);
  // a check is not repeated at once
  await pool.query('update pull_requests set mergeability = null');
  await ask('/check');
  await expect.poll(async () => (await ask()).body.merge.mergeability?.problem, patience).toBe(null);
  await operator.revoke(owner, `merge:${repository.url}`);
  await operator.revoke(owner, repository.url);
  const own = { forgeToken: github.token };
  expect((await api.ask(`/v1/projects/${project.id}`, { key, method: 'PATCH', json: own })).status).toBe(200);
  await ask('/merge');
  await expect.poll(async () => (await ask()).body.state, patience).toBe('merged');
  expect(merges()).toHaveLength(1);
});

it('what others did on the forge is noticed by a check, and by the follower of pull requests', async () => {
  await using scene = await openScene();
  const { ask, worked, ref, github, pool } = scene;
  await using _chores = scene.work();
  Object.assign(github.pullRequests('acme/lamp')[0]!, { draft: true });
  await ask('/check');
  await expect.poll(async () => (await ask()).body.draft, patience).toBe(true);
  expect((await ask('/merge')).status).toBe(409);
  Object.assign(github.pullRequests('acme/lamp')[0]!, { draft: false, state: 'closed' });
  await pool.query(`update pull_requests set mergeability = null`);
  await ask('/check');
  await expect.poll(async () => (await ask()).body.state, patience).toBe('closed');
  expect(await worked.get(ref.jobId)).toMatchObject({ prState: 'closed', prDraft: false });
  const branches = createJobBranchStore(pool);
  await branches.setPullRequestState({ jobId: ref.jobId, prId: '1', state: 'merged', draft: false });
  expect((await ask()).body.state).toBe('merged');
});
