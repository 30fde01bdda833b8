import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTestGit } from '../../support/git.ts';
import { SnapshotRemovedError } from '../../../db/jobs/snapshot-removed.ts';
import { createWorkspaces } from '../../../activities/workspaces/workspaces.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { readTree } from '../clients/read-tree.ts';
import { access, changeTree, createTestWorkspaces } from '../clients/setup.ts';

describe('a damaged or interrupted working copy', () => {
  it('is restored when the mirror disappears, is emptied or loses its objects', async () => {
    await using repository = await createTestRepository({ 'a.txt': 'a', 'b.txt': 'b' });
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const job = { repository: repository.path, jobId: 'job', commit };
    const { snapshot } = await changeTree(test.workspaces, job, (path) => writeFile(join(path, 'a.txt'), 'changed'));
    const mirrors = join(test.directory, 'work', 'mirrors');
    const [mirror = ''] = await readdir(mirrors);
    const damages = [
      () => rm(join(mirrors, mirror), { recursive: true }),
      () => rm(join(mirrors, mirror, 'objects'), { recursive: true }),
      () => rm(join(mirrors, mirror, 'HEAD')),
      async () => {
        const packs = join(mirrors, mirror, 'objects/pack');
        for (const name of await readdir(packs)) {
          await chmod(join(packs, name), 0o600);
          await writeFile(join(packs, name), 'damaged');
        }
      },
    ];
    for (const damage of damages) {
      await damage();
      for (const jobId of ['job', 'another']) {
        const opened = await test.workspaces.open({ ...access(repository.path), jobId, baseCommit: commit, snapshot });
        expect(Object.fromEntries(await readTree(opened.path))).toEqual({ 'a.txt': 'file changed', 'b.txt': 'file b' });
        await opened.release();
      }
      const read = await test.workspaces.readFile({ ...access(repository.path), commit, path: 'b.txt', maxBytes: 9 });
      expect(read?.toString()).toBe('b');
      await test.workspaces.remove('another');
    }
  });

  it('is not restored from a snapshot whose contents were removed', async () => {
    await using repository = await createTestRepository({ 'a.txt': 'a' });
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const job = { repository: repository.path, jobId: 'job', commit };
    const { snapshot } = await changeTree(test.workspaces, job, (path) => writeFile(join(path, 'a.txt'), 'changed'));
    const removed = { ...snapshot!, pack: Buffer.alloc(0), patch: '' };
    const another = { ...access(repository.path), jobId: 'another', baseCommit: commit, snapshot: removed };
    await expect(test.workspaces.open(another)).rejects.toThrow(SnapshotRemovedError);
  });

  it('continues from its mirror after the repository was deleted, and fails at the push', async () => {
    await using repository = await createTestRepository({ 'a.txt': 'a' });
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    await rm(repository.path, { recursive: true });
    const job = { repository: repository.path, jobId: 'job', commit };
    const { snapshot } = await changeTree(test.workspaces, job, (path) => writeFile(join(path, 'a.txt'), 'b'));
    const publishing = test.workspaces.publish({
      ...access(repository.path),
      jobId: 'job',
      branch: 'docket/job',
      baseCommit: commit,
      snapshot: snapshot!,
      message: 'x',
      author: { name: 'a', email: 'b', date: new Date(0) },
      published: null,
      beforePush: async () => {},
    });
    await expect(publishing).rejects.toMatchObject({ kind: 'not-found' });
  });

  it('starts over if a killed git left a lock, and drops what a killed batch wrote', async () => {
    await using repository = await createTestRepository({ 'a.txt': 'a', 'dir/b.txt': 'b' });
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const open = () =>
      test.workspaces.open({ ...access(repository.path), jobId: 'job', baseCommit: commit, snapshot: null });
    const first = await open();
    await writeFile(join(first.path, 'half.tmp'), 'x');
    await rm(join(first.path, 'dir'), { recursive: true });
    await writeFile(join(first.path, '../git/next-index.lock'), '');
    await writeFile(join(first.path, '../git/next-index'), 'half');
    await first.release();
    const second = await open();
    expect(Object.fromEntries(await readTree(second.path))).toEqual({ 'a.txt': 'file a', 'dir/b.txt': 'file b' });
    await second.release();
  });

  it('fetches a base commit that the mirror of this worker lacks', async () => {
    await using repository = await createTestRepository({ 'a.txt': 'a' });
    await using test = await createTestWorkspaces();
    await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const commit = await repository.commit({ 'a.txt': 'newer' });
    const opened = await test.workspaces.open({
      ...access(repository.path),
      jobId: 'job',
      baseCommit: commit,
      snapshot: null,
    });
    expect(Object.fromEntries(await readTree(opened.path))).toEqual({ 'a.txt': 'file newer' });
    await opened.release();
  });

  it('is not rebuilt if it is intact', async () => {
    await using repository = await createTestRepository({ 'a.txt': 'a' });
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const job = { repository: repository.path, jobId: 'job', commit };
    const { snapshot } = await changeTree(test.workspaces, job, (path) => writeFile(join(path, 'a.txt'), 'b'));
    test.calls.length = 0;
    const opened = await test.workspaces.open({
      ...access(repository.path),
      jobId: 'job',
      baseCommit: commit,
      snapshot,
    });
    await opened.release();
    expect(test.calls.map(({ args }) => args[0])).toEqual(['ls-files']);
  });

  it('is trusted once by the process that left it, and verified after any other use', async () => {
    await using repository = await createTestRepository({ 'a.txt': 'a' });
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const open = (workspaces = test.workspaces) =>
      workspaces.open({ ...access(repository.path), jobId: 'job', baseCommit: commit, snapshot: null });
    const first = await open();
    await first.release({ tree: first.tree });
    test.calls.length = 0;
    const second = await open();
    expect(test.calls).toEqual([]);
    await writeFile(join(second.path, 'half.tmp'), 'x');
    await second.release();
    const third = await open();
    expect(existsSync(join(third.path, 'half.tmp'))).toBe(false);
    await third.release({ tree: third.tree });
    const elsewhere = await open(test.again());
    await writeFile(join(elsewhere.path, 'half.tmp'), 'x');
    await elsewhere.release({ tree: elsewhere.tree });
    const last = await open();
    expect(existsSync(join(last.path, 'half.tmp'))).toBe(false);
    await last.release();
  });

  it('fails as corrupt if the snapshot is, and works again with a good one', async () => {
    await using repository = await createTestRepository({ 'a.txt': 'a' });
    await using test = await createTestWorkspaces();
    await using other = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const job = { repository: repository.path, jobId: 'job', commit };
    const { snapshot } = await changeTree(test.workspaces, job, (path) => writeFile(join(path, 'a.txt'), 'b'));
    const open = (pack: Buffer) =>
      other.workspaces.open({
        ...access(repository.path),
        jobId: 'job',
        baseCommit: commit,
        snapshot: { ...snapshot!, pack },
      });
    const damaged = Buffer.from(snapshot!.pack);
    damaged[damaged.length - 25]! ^= 0xff;
    await expect(open(damaged)).rejects.toMatchObject({ kind: 'corrupt' });
    await (await open(snapshot!.pack)).release();
  });

  it('accepts a job id of any form without leaving its directory', async () => {
    await using repository = await createTestRepository();
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    for (const jobId of ['../../escape', '', 'a/b', 'x'.repeat(3000), '.']) {
      const opened = await test.workspaces.open({
        ...access(repository.path),
        jobId,
        baseCommit: commit,
        snapshot: null,
      });
      expect(opened.path.startsWith(join(test.directory, 'work', 'jobs'))).toBe(true);
      await opened.release();
      await test.workspaces.remove(jobId);
    }
    expect(await readdir(join(test.directory, 'work', 'jobs'))).toEqual([]);
    expect((await readdir(join(test.directory, 'work', 'locks'))).filter((name) => name.startsWith('job-'))).toEqual(
      [],
    );
  });
});

it('removes working copies after a while without use', async () => {
  await using repository = await createTestRepository();
  await using test = await createTestWorkspaces();
  const directory = join(test.directory, 'work');
  const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
  for (const jobId of ['old', 'new']) {
    const opened = await test.workspaces.open({
      ...access(repository.path),
      jobId,
      baseCommit: commit,
      snapshot: null,
    });
    await opened.release();
  }
  await utimes(join(directory, 'jobs', 'old'), new Date(0), new Date(0));
  await mkdir(join(directory, 'trash', 'left'), { recursive: true });
  await utimes(join(directory, 'trash', 'left'), new Date(0), new Date(0));
  const later = createWorkspaces({
    git: createTestGit({ home: join(test.directory, 'home') }),
    directory,
    keepMs: 3_600_000,
  });
  const opened = await later.open({ ...access(repository.path), jobId: 'new', baseCommit: commit, snapshot: null });
  await opened.release();
  await later.removeEnded(() => Promise.resolve([]));
  expect(await readdir(join(directory, 'jobs'))).toEqual(['new']);
  expect(await readdir(join(directory, 'trash'))).toEqual([]);
});

it('makes its directories readable only by their owner', async () => {
  await using repository = await createTestRepository();
  await using test = await createTestWorkspaces();
  const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
  const opened = await test.workspaces.open({
    ...access(repository.path),
    jobId: 'job',
    baseCommit: commit,
    snapshot: null,
  });
  for (const path of [opened.path, join(test.directory, 'home')]) expect((await stat(path)).mode & 0o077).toBe(0);
  expect(await readFile(join(test.directory, 'home', 'gitconfig'), 'utf8')).toContain('hooksPath = /dev/null');
  await opened.release();
});
