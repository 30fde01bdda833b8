import { chmod, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OwnPath } from '../../../activities/workspaces/own-paths.ts';
import { createFakeGithub } from '../../support/forges/fake-github.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { scene } from './publish-scene.ts';
import { access, changeTree, createTestWorkspaces, live } from './setup.ts';

describe.each(['local', 'github'] as const)('publish to a %s repository', (forge) => {
  it('creates the branch with one commit on the base, the same on every machine and attempt', async () => {
    await scene(forge, async ({ repository, snapshot, publish, pushes, commit, test }) => {
      const taken = await snapshot('one\n');
      const first = await publish(taken);
      expect(await publish(taken)).toEqual(first);
      await test.workspaces.remove('job');
      await using elsewhere = await createTestWorkspaces();
      expect(await publish(taken, { workspaces: elsewhere.workspaces })).toEqual(first);
      expect(pushes).toHaveLength(1);
      expect(await repository.git('rev-parse', 'docket/job-edit', 'docket/job-edit^')).toBe(
        `${first.commit}\n${commit}`,
      );
      expect(await repository.read(first.commit)).toEqual({ 'README.md': '100644 # Lamp', 'edit.txt': '100644 one' });
      expect(await repository.git('show', '-s', '--format=%an <%ae> %at|%cn <%ce> %ct|%B', first.commit)).toContain(
        'Docket <docket@example.com> 1767323045|Docket <docket@example.com> 1767323045|Edit\n\nAgent-Job: job',
      );
    });
  });

  it('replaces its own branch in a first turn, and refuses any other', async () => {
    await scene(forge, async ({ repository, snapshot, publish }) => {
      const one = await snapshot('one\n');
      const two = await snapshot('two\n', one);
      await publish(one);
      const second = await publish(two); // an earlier attempt of this job created the branch
      expect(await repository.git('rev-parse', 'docket/job-edit')).toBe(second.commit);
      await expect(publish(one, { message: 'Edit\n\nAgent-Job: other\n' })).rejects.toMatchObject({ kind: 'stale' });
      const theirs = await repository.commit({ 'theirs.txt': 'x' }, { branch: 'docket/job-edit' });
      await expect(publish(one)).rejects.toMatchObject({ kind: 'stale' });
      expect(await repository.git('rev-parse', 'docket/job-edit')).toBe(theirs);
    });
  });

  it('detects a branch that moves between the check and the push', async () => {
    await scene(forge, async ({ repository, snapshot, publish }) => {
      const one = await snapshot('one\n');
      const rival = () => repository.commit({ 'rival.txt': 'x' }, { branch: 'docket/job-edit' });
      await expect(publish(one, { beforePush: async () => void (await rival()) })).rejects.toMatchObject({
        kind: 'stale',
      });
      await repository.git('update-ref', '-d', 'refs/heads/docket/job-edit');
      const twin = async () => {
        await using other = await createTestWorkspaces();
        await publish(one, { workspaces: other.workspaces });
      };
      const { commit } = await publish(one, { beforePush: twin });
      expect(await repository.git('rev-parse', 'docket/job-edit')).toBe(commit);
    });
  });

  it('recreates the branch if it was deleted after an earlier turn', async () => {
    await scene(forge, async ({ repository, snapshot, publish }) => {
      const one = await snapshot('one\n');
      const first = await publish(one);
      await repository.git('update-ref', '-d', 'refs/heads/docket/job-edit');
      const { commit } = await publish(await snapshot('two\n', one), { published: first });
      expect(await repository.git('rev-parse', 'docket/job-edit')).toBe(commit);
    });
  });

  it('does not silently revert commits of the branch: a revert counts as a change of the job, too', async () => {
    await scene(forge, async ({ test, url, credential, commit, repository, snapshot, publish }) => {
      const first = await publish(await snapshot('one\n'));
      await repository.commit({ 'theirs.txt': 'x' }, { branch: 'docket/job-edit' });
      const followed = await test.workspaces.mergeUpstream({
        ...access(url, credential),
        jobId: 'job',
        baseCommit: commit,
        snapshot: first.snapshot,
        branch: 'docket/job-edit',
        published: first,
        asBase: false,
      });
      const published = { commit: followed!.commit, snapshot: followed!.snapshot! };
      const seen: string[][] = [];
      const options = {
        isFurther: true,
        checkPaths: (paths: OwnPath[]) => void seen.push(paths.map(({ path }) => path)),
      };
      const second = await publish(await snapshot('two\n', published.snapshot), { ...options, published });
      // without what they added
      await publish(await snapshot('three\n'), { ...options, published: second });
      expect(seen).toEqual([['edit.txt'], ['edit.txt', 'theirs.txt']]);
    });
  });

  it('reports the targets of links that a job has created', async () => {
    await scene(forge, async ({ test, url, credential, commit, publish }) => {
      const opened = await test.workspaces.open({
        ...access(url, credential),
        jobId: 'job',
        baseCommit: commit,
        snapshot: null,
      });
      await symlink('.git/config', join(opened.path, 'link'));
      await symlink('ü\n', join(opened.path, 'odd'));
      // two names with the same text
      const named = (byte: number) => Buffer.concat([Buffer.from(join(opened.path, 'a')), Buffer.from([byte])]);
      await symlink('.git', named(0xfe));
      await writeFile(named(0xff), '');
      await writeFile(join(opened.path, 'file'), '.git');
      const { snapshot } = await test.workspaces.snapshot('job', { baseCommit: commit, sinceTree: null, signal: live });
      await opened.release();
      const seen: OwnPath[][] = [];
      await publish(snapshot!, { checkPaths: (paths) => void seen.push(paths) });
      expect(seen).toEqual([
        [
          { path: 'a\uFFFD', target: '.git' },
          { path: 'a\uFFFD', target: null },
          { path: 'file', target: null },
          { path: 'link', target: '.git/config' },
          { path: 'odd', target: 'ü\n' },
        ],
      ]);
    });
  });

  it('pushes nothing if the check before the push refuses', async () => {
    await scene(forge, async ({ repository, snapshot, publish }) => {
      const stale = new Error('A newer attempt owns this.');
      await expect(publish(await snapshot('one\n'), { beforePush: () => Promise.reject(stale) })).rejects.toBe(stale);
      expect(await repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
    });
  });

  it('puts only its own commit in the branch, whatever the snapshots before it contained', async () => {
    await scene(forge, async ({ repository, snapshot, publish, commit }) => {
      const one = await snapshot('one\n');
      const { commit: published } = await publish(await snapshot('two\n', one));
      expect(await repository.git('rev-list', '--count', `${commit}..${published}`)).toBe('1');
      expect(await repository.git('fsck', '--strict', '--connectivity-only')).toBe('');
    });
  });
});

describe('a push that the server refuses', () => {
  const refusals = [
    [
      'refusing to allow a GitHub App to create or update workflow `.github/workflows/a.yml` without `workflows` permission',
      /rejected a change of workflow files/,
    ],
    ['GH006: Protected branch update failed', /the branch is protected/],
    ['Come back later', /one of its hooks declined/],
  ] as const;
  it.each(refusals)('is rejected when a hook says %j', async (words, sentence) => {
    await scene('github', async ({ repository, snapshot, publish }) => {
      const taken = await snapshot('one\n');
      await mkdir(join(repository.path, 'hooks'), { recursive: true });
      await writeFile(join(repository.path, 'hooks/pre-receive'), `#!/bin/sh\necho '${words}' >&2\nexit 1\n`);
      await chmod(join(repository.path, 'hooks/pre-receive'), 0o755);
      await expect(publish(taken)).rejects.toMatchObject({
        kind: 'rejected',
        message: expect.stringMatching(sentence),
      });
      await rm(join(repository.path, 'hooks/pre-receive'));
      await publish(taken);
    });
  });

  it.each([
    [403, 'authentication'],
    [404, 'not-found'],
    [500, 'unreachable'],
    [429, 'unreachable'],
  ] as const)('with status %s is %s, and the next attempt goes through', async (status, kind) => {
    await using github = await createFakeGithub();
    await using test = await createTestWorkspaces();
    const repository = await github.addRepository('acme/lamp');
    const credential = { username: 'x-access-token', token: async () => github.token, origin: github.origin };
    const { commit } = await test.workspaces.resolve({ ...access(repository.url, credential), ref: null });
    const job = { repository: repository.url, jobId: 'job', commit };
    const { snapshot } = await changeTree(test.workspaces, job, (path) => writeFile(join(path, 'a'), 'a'));
    const publish = () =>
      test.workspaces.publish({
        ...access(repository.url, credential),
        jobId: 'job',
        branch: 'docket/job',
        baseCommit: commit,
        snapshot: snapshot!,
        message: 'x',
        author: { name: 'a', email: 'b', date: new Date(0) },
        published: null,
        beforePush: async () => {},
      });
    github.fail({ on: 'git-write', status, body: {} });
    await expect(publish()).rejects.toMatchObject({ name: 'GitError', kind });
    await publish();
    expect(github.violations).toEqual([]);
  });

  it('is found to be done by the next attempt if only its response was lost', async () => {
    await scene('github', async ({ github, repository, snapshot, publish }) => {
      const taken = await snapshot('one\n');
      github.fail({ on: 'git-write', status: null, after: true });
      // git's own HTTP client may repeat the request, and then finds the branch as it wants it
      const first = await publish(taken).catch((error: unknown) => error);
      if (first instanceof Error) expect(first).toMatchObject({ name: 'GitError', kind: 'unreachable' });
      const { commit } = await publish(taken);
      expect(await repository.git('rev-parse', 'docket/job-edit')).toBe(commit);
      expect(await repository.git('rev-list', '--count', 'main..docket/job-edit')).toBe('1');
    });
  });

  it.each(['', '-x', 'a b', 'a..b', 'a.lock', 'a:b', 'a\nb', '/a', 'a/', '+a', 'a//b', 'a/.b', '\u3000'])(
    'is refused before the push for the branch name %j',
    async (branch) => {
      await using repository = await createTestRepository();
      await using test = await createTestWorkspaces();
      const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
      const job = { repository: repository.path, jobId: 'job', commit };
      const { snapshot } = await changeTree(test.workspaces, job, (path) => writeFile(join(path, 'a'), 'a'));
      const publishing = test.workspaces.publish({
        ...access(repository.path),
        jobId: 'job',
        branch,
        baseCommit: commit,
        snapshot: snapshot!,
        message: 'x',
        author: { name: 'a', email: 'b', date: new Date(0) },
        published: null,
        beforePush: async () => {},
      });
      await expect(publishing).rejects.toMatchObject({ kind: 'rejected' });
    },
  );
});
