import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acquireLock, tryLock } from '../../../activities/clients/file-lock.ts';
import { createGit } from '../../../activities/clients/git.ts';
import { createWorkspaces } from '../../../activities/clients/workspaces.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { readTree } from './read-tree.ts';
import { access, changeTree, createTestWorkspaces, live } from './setup.ts';

describe('resolve', () => {
  it('knows the default branch, branches, tags and commits that the repository holds', async () => {
    await using repository = await createTestRepository();
    await using test = await createTestWorkspaces();
    const first = await repository.git('rev-parse', 'main');
    await repository.git('tag', 'light', first);
    await repository.git('tag', '-a', '-m', 'x', 'heavy', first);
    const second = await repository.commit({ a: '1' });
    const third = await repository.commit({ b: '1' }, { branch: 'feature/x' });
    const resolve = (ref: string | null) => test.workspaces.resolve({ ...access(repository.path), ref });
    expect(await resolve(null)).toEqual({ branch: 'main', commit: second });
    expect(await resolve('main')).toEqual({ branch: 'main', commit: second });
    expect(await resolve('refs/heads/main')).toEqual({ branch: 'main', commit: second });
    expect(await resolve('feature/x')).toEqual({ branch: 'feature/x', commit: third });
    expect(await resolve('light')).toEqual({ branch: 'main', commit: first });
    expect(await resolve('heavy')).toEqual({ branch: 'main', commit: first });
    expect(await resolve('refs/tags/heavy')).toEqual({ branch: 'main', commit: first });
    expect(await resolve(first)).toEqual({ branch: 'main', commit: first });
    expect(await resolve(third)).toEqual({ branch: 'feature/x', commit: third });
  });

  it('sees what the remote has now, also after a branch was rewritten or became a folder', async () => {
    await using repository = await createTestRepository();
    await using test = await createTestWorkspaces();
    const resolve = (ref: string | null) => test.workspaces.resolve({ ...access(repository.path), ref });
    await resolve(null);
    await repository.git('update-ref', 'refs/heads/topic', 'main');
    const moved = await repository.commit({ a: '2' });
    expect(await resolve('main')).toEqual({ branch: 'main', commit: moved });
    expect((await resolve('topic')).branch).toBe('topic');
    await repository.git('update-ref', '-d', 'refs/heads/topic');
    const nested = await repository.commit({ c: '1' }, { branch: 'topic/nested' });
    expect(await resolve('topic/nested')).toEqual({ branch: 'topic/nested', commit: nested });
    await expect(resolve('topic')).rejects.toMatchObject({ kind: 'ref-not-found' });
    const tree = await repository.git('rev-parse', 'main^{tree}');
    const rewritten = await repository.git('commit-tree', tree, '-m', 'Anew');
    await repository.git('update-ref', 'refs/heads/main', rewritten);
    expect(await resolve(null)).toEqual({ branch: 'main', commit: rewritten });
  });

  it.each([
    'nope',
    '0123456789012345678901234567890123456789',
    'refs/heads/nope',
    'refs/tags/main',
    '../main',
    'ma?n',
    '-x',
    '--upload-pack=x',
    'HEAD',
  ])('answers ref-not-found for %j', async (ref) => {
    await using repository = await createTestRepository();
    await using test = await createTestWorkspaces();
    await expect(test.workspaces.resolve({ ...access(repository.path), ref })).rejects.toMatchObject({
      kind: 'ref-not-found',
    });
  });

  it('does not answer a commit that no branch or tag holds', async () => {
    await using repository = await createTestRepository();
    await using test = await createTestWorkspaces();
    const tree = await repository.git('rev-parse', 'main^{tree}');
    const stray = await repository.git('commit-tree', tree, '-m', 'Stray');
    await expect(test.workspaces.resolve({ ...access(repository.path), ref: stray })).rejects.toMatchObject({
      kind: 'ref-not-found',
    });
  });

  it('says of an empty repository that it has no commit, and of a missing one that it is not there', async () => {
    await using repository = await createTestRepository(null);
    await using test = await createTestWorkspaces();
    await expect(test.workspaces.resolve({ ...access(repository.path), ref: null })).rejects.toMatchObject({
      kind: 'ref-not-found',
      message: expect.stringMatching(/no commit/),
    });
    await expect(test.workspaces.resolve({ ...access(`${repository.path}-gone`), ref: null })).rejects.toMatchObject({
      kind: 'not-found',
    });
  });
});

describe('a file of a commit', () => {
  it('is read from git, only when it is a regular file, and capped', async () => {
    await using repository = await createTestRepository({
      'AGENTS.md': 'rules of the base',
      'docs/a.md': 'a',
      link: { link: 'AGENTS.md' },
    });
    await using test = await createTestWorkspaces();
    const commit = await repository.git('rev-parse', 'main');
    const read = async (path: string, maxBytes = 1000) =>
      (await test.workspaces.readFile({ ...access(repository.path), commit, path, maxBytes }))?.toString() ?? null;
    expect(await read('AGENTS.md')).toBe('rules of the base');
    expect(await read('AGENTS.md', 5)).toBe('rules');
    expect(await read('docs/a.md')).toBe('a');
    for (const path of ['link', 'docs', '*.md', '../x', '/etc/passwd', ':(top)a', 'none', '']) {
      expect(await read(path)).toBeNull();
    }
  });
});

describe('a damaged or interrupted working copy', () => {
  it('comes back when the mirror disappears, is emptied or loses its objects', async () => {
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

  it('goes on from its mirror after the repository was deleted, and fails at the push', async () => {
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
      expectedHead: null,
      beforePush: async () => {},
    });
    await expect(publishing).rejects.toMatchObject({ kind: 'not-found' });
  });

  it('starts over where a killed git left a lock, and drops what a killed batch wrote', async () => {
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

  it('does not begin again what is as it should be', async () => {
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

  it('fails as corrupt when the snapshot is, and works again with a good one', async () => {
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

describe('the lock of a job', () => {
  it('lets one owner work at a time, in whatever order they come', async () => {
    await using repository = await createTestRepository();
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    let inside = 0;
    let most = 0;
    const owners = [test.workspaces, test.again(), test.again()];
    await Promise.all(
      Array.from({ length: 9 }, async (_, at) => {
        const opened = await owners[at % 3]!.open({
          ...access(repository.path),
          jobId: 'job',
          baseCommit: commit,
          snapshot: null,
        });
        inside += 1;
        most = Math.max(most, inside);
        await writeFile(join(opened.path, `file-${at}`), 'x');
        inside -= 1;
        await opened.release();
      }),
    );
    expect(most).toBe(1);
  });

  it('is free again as soon as the process that holds it is killed', async () => {
    await using test = await createTestWorkspaces();
    const path = join(test.directory, 'lock');
    const child = spawn(process.execPath, [join(import.meta.dirname, 'hold-lock.ts'), path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(child.stdout, 'data');
      expect(tryLock(path)).toBeNull();
      const waiting = acquireLock(path, live);
      await killed(child);
      await (await waiting).release();
    } finally {
      await killed(child);
    }
  });

  it('excludes others also when its file is removed with it', async () => {
    await using test = await createTestWorkspaces();
    const path = join(test.directory, 'lock');
    let inside = 0;
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const lock = await acquireLock(path, live);
        inside += 1;
        expect(inside).toBe(1);
        await new Promise(setImmediate);
        inside -= 1;
        await lock.release({ remove: true });
      }),
    );
  });

  it('stops waiting when the job is stopped', async () => {
    await using test = await createTestWorkspaces();
    const path = join(test.directory, 'lock');
    const lock = await acquireLock(path, live);
    const controller = new AbortController();
    const waiting = acquireLock(path, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ kind: 'aborted' });
    await lock.release();
  });
});

it('removes working copies that nobody used for a while', async () => {
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
    git: createGit({ home: join(test.directory, 'home') }),
    directory,
    keepMs: 3_600_000,
  });
  const opened = await later.open({ ...access(repository.path), jobId: 'new', baseCommit: commit, snapshot: null });
  await opened.release();
  expect(await readdir(join(directory, 'jobs'))).toEqual(['new']);
  expect(await readdir(join(directory, 'trash'))).toEqual([]);
});

it('writes its directories for nobody else', async () => {
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

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
