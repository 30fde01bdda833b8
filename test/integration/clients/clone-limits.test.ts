import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { TransferLimits } from '../../../activities/git/transfer-limits.ts';
import { createTestGit } from '../../support/git.ts';
import type { TreeLimits } from '../../../activities/workspaces/tree-limits.ts';
import { createWorkspaces } from '../../../activities/workspaces/workspaces.ts';
import { verdictOf } from '../../../activities/failures.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { loopbackEgress } from '../../support/servers/loopback.ts';
import { access } from './setup.ts';
import { makeBomb } from './tree-bomb.ts';
import { GitError } from '../../../activities/git/git-error.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const wide = { bytes: 1e9, files: 1_000, depth: 20 };

async function openWith(
  repository: string,
  limits: Partial<TreeLimits>,
  transfer: TransferLimits = { bytes: 1e9, timeoutMs: 60_000 },
): Promise<{ error: unknown; written: string[] }> {
  const directory = temporaryDirectory();
  const home = join(directory, 'home');
  const git = createTestGit({ home, transports: ['http', 'file'], egress: loopbackEgress, transfer });
  const workspaces = createWorkspaces({ git, directory: join(directory, 'work'), limits: { ...wide, ...limits } });
  const error = await (async () => {
    const { commit } = await workspaces.resolve({ ...access(repository), ref: null });
    const job = { jobId: 'job', baseCommit: commit, snapshot: null };
    await (await workspaces.open({ ...access(repository), ...job })).release();
  })().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { error, written: await readdir(join(directory, 'work/jobs/job/tree')).catch(() => []) };
}

describe('the limits of a repository', () => {
  it('stop a fetch that exceeds them, and name the setting', async () => {
    await using repository = await createTestRepository({ noise: randomBytes(3_000_000) });
    const { error } = await openWith(repository.path, {}, { bytes: 1_000_000, timeoutMs: 60_000 });
    expect(error).toBeInstanceOf(GitError);
    expect(error).toMatchObject({ kind: 'too-large', message: expect.stringMatching(/DOCKET_REPOSITORY_MB/) });
    expect(verdictOf(error)).toMatchObject({ category: 'repository_too_large', tolerated: 0 });
    expect((await openWith(repository.path, {})).error).toBeNull();
  });

  it('refuse a tree with too many files before writing any, however few objects it consists of', async () => {
    await using repository = await createTestRepository({ 'README.md': 'x' });
    await makeBomb(repository, { depth: 9, content: 'x' });
    const { error, written } = await openWith(repository.path, {});
    expect(error).toMatchObject({ kind: 'too-large', message: expect.stringMatching(/DOCKET_REPOSITORY_FILES/) });
    expect(written).toEqual([]);
  });

  it('count branches and tags as files, since a copy stores each as one', async () => {
    await using repository = await createTestRepository({ 'README.md': 'x' });
    const commit = (await repository.git('rev-parse', 'HEAD')).trim();
    const refs = Array.from({ length: 999 }, (_, at) => `${commit} refs/heads/many/${at}\n`);
    await appendFile(join(repository.path, 'packed-refs'), refs.join(''));
    expect((await openWith(repository.path, {})).error).toBeNull();
    await repository.git('tag', 'one-more');
    const { error } = await openWith(repository.path, {});
    expect(error).toMatchObject({ kind: 'too-large', message: expect.stringMatching(/DOCKET_REPOSITORY_FILES/) });
  });

  it('refuse a tree that takes too much space', async () => {
    await using repository = await createTestRepository({ 'README.md': 'x' });
    await makeBomb(repository, { depth: 2, content: 'x'.repeat(100_000) });
    const { error, written } = await openWith(repository.path, { bytes: 5_000_000 });
    expect(error).toMatchObject({ kind: 'too-large', message: expect.stringMatching(/DOCKET_REPOSITORY_MB/) });
    expect(written).toEqual([]);
    expect((await openWith(repository.path, { bytes: 10_000_001 })).error).toBeNull();
  });

  it('refuse paths that are too deep or too long for a file system', async () => {
    await using deep = await createTestRepository({ [`${'a/'.repeat(30)}b`]: 'x' });
    const first = await openWith(deep.path, {});
    expect(first.error).toMatchObject({ kind: 'too-large', message: expect.stringMatching(/DOCKET_REPOSITORY_DEPTH/) });
    expect(first.written).toEqual([]);
    expect((await openWith(deep.path, { depth: 31 })).error).toBeNull();
    await using long = await createTestRepository({ [`${`${'n'.repeat(240)}/`.repeat(15)}b`]: 'x' });
    expect((await openWith(long.path, {})).error).toMatchObject({ kind: 'too-large' });
  });

  it('include the memory of git', { tags: ['slow'] }, async () => {
    await using repository = await createTestRepository();
    await makeBomb(repository, { depth: 6, content: 'x' });
    const home = temporaryDirectory();
    const args = ['diff-tree', '-r', '-M', '--name-only', 'main', '4b825dc642cb6eb9a060e54bf8d69288fbee4904'];
    const call = { gitDir: repository.path, args, maxOutputBytes: 1_000, signal: new AbortController().signal };
    const error = await createTestGit({ home, memoryBytes: 2 ** 27 })
      .run(call)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'out-of-memory', message: expect.stringMatching(/DOCKET_GIT_MEMORY_MB/) });
    expect(verdictOf(error)).toMatchObject({ category: 'repository_too_large', tolerated: 0 });
    await expect(createTestGit({ home }).run(call)).resolves.toMatchObject({ exitCode: -1, truncated: true });
  });

  it('end an exchange that takes too long, and name the setting', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    try {
      const { port } = silent.address() as AddressInfo;
      const directory = temporaryDirectory();
      const transfer = { bytes: 1e9, timeoutMs: 300 };
      const git = createTestGit({ home: directory, transports: ['http'], egress: loopbackEgress, transfer });
      const remote = `http://127.0.0.1:${port}/a/b`;
      const { signal } = new AbortController();
      const call = { gitDir: directory, args: ['ls-remote', remote], transports: ['http'] as const, remote, signal };
      await expect(git.run(call)).rejects.toMatchObject({
        kind: 'timeout',
        message: expect.stringMatching(/DOCKET_CLONE_MINUTES/),
      });
    } finally {
      silent.close();
    }
  });
});
