// @module-tag slow
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findGitea } from '../../support/forges/gitea-build.ts';
import { startGitea, type Gitea } from '../../support/forges/gitea-server.ts';
import { access, changeTree, createTestWorkspaces, type TestWorkspaces } from './setup.ts';

const binary = await findGitea(process.env);
let gitea: Gitea;
let test: TestWorkspaces;
let made = 0;

/** Creates a private repository; returns its API path. */
async function addRepository(change = {}): Promise<string> {
  made += 1;
  const name = `git-${made}`;
  await gitea.ask('POST', '/user/repos', { name, private: true, auto_init: true, default_branch: 'trunk', ...change });
  return `/repos/bot/${name}`;
}

const urlOf = (path: string) => `${gitea.origin}${path.replace(/^\/repos/, '')}`;
const accessWith = (path: string, token = gitea.token) =>
  access(urlOf(path), { username: 'oauth2', token: async () => token, origin: gitea.origin });

/** Changes a file and pushes it, with another token and after `between` if they are given. */
async function publish(path: string, { token = gitea.token, between = async () => {} } = {}) {
  const jobId = `job-${made}`;
  const { commit } = await test.workspaces.resolve({ ...accessWith(path), ref: null });
  const change = (tree: string) => writeFile(join(tree, 'new.txt'), 'new\n');
  const { snapshot } = await changeTree(test.workspaces, { repository: urlOf(path), jobId, commit }, change);
  await between();
  return test.workspaces.publish({
    ...accessWith(path, token),
    jobId,
    branch: 'docket/job',
    baseCommit: commit,
    snapshot: snapshot!,
    message: 'New',
    author: { name: 'Docket', email: 'docket@example.test', date: new Date(0) },
    published: null,
    beforePush: async () => {},
  });
}

describe.runIf(binary !== null)('git on a real Gitea', () => {
  beforeAll(async () => {
    gitea = await startGitea(binary!);
    await gitea.addUser('reader');
    test = await createTestWorkspaces();
  });
  afterAll(async () => {
    await test?.[Symbol.asyncDispose]();
    await gitea?.[Symbol.asyncDispose]();
  });

  it('reports that the branch is protected', async () => {
    const path = await addRepository();
    await gitea.ask('POST', `${path}/branch_protections`, { rule_name: 'docket/**', enable_push: false });
    await expect(publish(path)).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(/the branch is protected/),
    });
  });

  it('reports that a user with read access may not write', async () => {
    const path = await addRepository();
    await gitea.ask('PUT', `${path}/collaborators/reader`, { permission: 'read' });
    const token = await gitea.tokenOf('reader', ['write:repository']);
    await expect(publish(path, { token })).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(/the credential cannot write/),
    });
  });

  it('distinguishes a read-only token from a wrong one', async () => {
    const path = await addRepository();
    await gitea.ask('PUT', `${path}/collaborators/reader`, { permission: 'write' });
    const token = await gitea.tokenOf('reader', ['read:repository']);
    await expect(publish(path, { token })).rejects.toMatchObject({
      kind: 'authentication',
      message: expect.stringMatching(/needs read and write access to contents/),
    });
    await expect(publish(path, { token: 'nothing-known' })).rejects.toMatchObject({
      kind: 'authentication',
      message: expect.stringMatching(/rejected the credential/),
    });
  });

  it('reports that the repository is archived', async () => {
    const path = await addRepository();
    const between = async () => gitea.ask('PATCH', path, { archived: true });
    await expect(publish(path, { between })).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(/is archived/),
    });
  });

  it('reports that the repository has moved, even in the middle of a job, and does not follow', async () => {
    const path = await addRepository();
    const between = async () => gitea.ask('PATCH', path, { name: `moved-${made}` });
    await expect(publish(path, { between })).rejects.toMatchObject({
      kind: 'not-found',
      message: expect.stringMatching(/has moved to another address/),
    });
    const resolved = test.workspaces.resolve({ ...accessWith(path), ref: null });
    await expect(resolved).rejects.toMatchObject({ kind: 'not-found', message: expect.stringMatching(/has moved/) });
  });

  it('reports that a repository is gone or empty, and finds a default branch other than main', async () => {
    const resolve = (path: string) => test.workspaces.resolve({ ...accessWith(path), ref: null });
    await expect(resolve('/repos/bot/none')).rejects.toMatchObject({ kind: 'not-found' });
    await expect(resolve(await addRepository({ auto_init: false }))).rejects.toMatchObject({
      kind: 'ref-not-found',
      message: expect.stringMatching(/no commit/),
    });
    expect(await resolve(await addRepository())).toMatchObject({ branch: 'trunk' });
  });
});
