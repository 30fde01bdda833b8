// @module-tag slow
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestGit } from '../../support/git.ts';
import { createGiteaForge } from '../../../activities/forges/gitea.ts';
import { createWorkspaces } from '../../../activities/workspaces/workspaces.ts';
import { hostKeySchema } from '../../../lib/inputs/ssh-keys.ts';
import { findGitea } from '../../support/forges/gitea-build.ts';
import { startGitea, type Gitea } from '../../support/forges/gitea-server.ts';
import { loopbackEgress } from '../../support/servers/loopback.ts';
import { hasSsh } from '../../support/ssh/has-ssh.ts';
import { createKeyPair, type KeyPair } from '../../support/ssh/ssh-server.ts';
import { live } from './setup.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const binary = await findGitea(process.env);
const writer = createKeyPair();
const reader = createKeyPair();
let gitea: Gitea;
let directory: string;
let knownHosts: string[];

describe.runIf(binary !== null && hasSsh)('a real Gitea over ssh', () => {
  beforeAll(async () => {
    gitea = await startGitea(binary!, { hasSsh: true });
    directory = temporaryDirectory();
    await gitea.ask('POST', '/user/repos', { name: 'lamp', private: true, auto_init: true, default_branch: 'main' });
    for (const [title, { public: key }, isReader] of [
      ['writer', writer, false],
      ['reader', reader, true],
    ] as const)
      await gitea.ask('POST', '/repos/bot/lamp/keys', { title, key, read_only: isReader });
    const scan = await promisify(execFile)('ssh-keyscan', ['-p', String(gitea.sshPort), '127.0.0.1']);
    const keys = scan.stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    knownHosts = keys.map((line) => hostKeySchema.parse(line));
  });
  afterAll(async () => {
    await gitea?.[Symbol.asyncDispose]();
  });

  const urlOf = (name: string) => `ssh://git@127.0.0.1:${gitea.sshPort}/bot/${name}`;

  /** Adds a file and pushes it to the job's branch. */
  async function publish(key: KeyPair, jobId: string) {
    const git = createTestGit({ home: join(directory, `home-${jobId}`), egress: loopbackEgress });
    const workspaces = createWorkspaces({ git, directory: join(directory, jobId) });
    const credential = { privateKey: key.private, knownHosts };
    const access = { organizationId: 'org_test', repository: urlOf('lamp'), credential, signal: live };
    const { commit: baseCommit } = await workspaces.resolve({ ...access, ref: null });
    const opened = await workspaces.open({ ...access, jobId, baseCommit, snapshot: null });
    await writeFile(join(opened.path, 'new.txt'), 'new\n');
    const { snapshot } = await workspaces.snapshot(jobId, { baseCommit, sinceTree: null, signal: live });
    await opened.release();
    return workspaces.publish({
      ...access,
      jobId,
      branch: `docket/${jobId}`,
      baseCommit,
      snapshot: snapshot!,
      message: 'New',
      author: { name: 'Docket', email: 'docket@example.test', date: new Date(0) },
      published: null,
      beforePush: async () => {},
    });
  }

  it('accepts a push with a deploy key, and the pull request with its token', async () => {
    const { commit } = await publish(writer, 'first');
    const branch = await gitea.ask('GET', `/repos/bot/lamp/branches/${encodeURIComponent('docket/first')}`);
    expect(branch.commit.id).toBe(commit);
    const forge = createGiteaForge({ token: gitea.token, url: gitea.origin, egress: loopbackEgress });
    expect(forge.credential(urlOf('lamp'))).toBeNull();
    const made = await forge.ensurePullRequest({
      repository: urlOf('lamp'),
      head: 'docket/first',
      base: 'main',
      title: 'New',
      body: 'By ssh',
      previous: [],
      draft: false,
      marks: { labels: [], assignees: [], reviewers: [] },
      signal: live,
      beforeEffect: async () => {},
    });
    expect(made).toMatchObject({ state: 'open', url: `${gitea.origin}/bot/lamp/pulls/1` });
  });

  it('refuses a push with a read-only key, with the reason', async () => {
    await expect(publish(reader, 'second')).rejects.toMatchObject({ kind: 'rejected' });
  });

  it('refuses an unknown key, and the key of another repository', async () => {
    await expect(publish(createKeyPair(), 'third')).rejects.toMatchObject({
      kind: 'authentication',
      message: expect.stringMatching(/rejected the project's ssh key/),
    });
    await gitea.ask('POST', '/user/repos', { name: 'other', private: true, auto_init: true });
    const git = createTestGit({ home: join(directory, 'home-other'), egress: loopbackEgress });
    const workspaces = createWorkspaces({ git, directory: join(directory, 'other') });
    const credential = { privateKey: writer.private, knownHosts };
    const resolved = workspaces.resolve({
      organizationId: 'org_test',
      repository: urlOf('other'),
      credential,
      signal: live,
      ref: null,
    });
    await expect(resolved).rejects.toMatchObject({ kind: 'not-found', detail: expect.stringContaining('other') });
  });
});
