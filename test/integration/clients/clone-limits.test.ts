import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createGit, GitError, type TransferLimits } from '../../../activities/clients/git.ts';
import type { TreeLimits } from '../../../activities/clients/tree-limits.ts';
import { createWorkspaces } from '../../../activities/clients/workspaces.ts';
import { verdictOf } from '../../../activities/failures.ts';
import { createTestRepository, type TestRepository } from '../../support/git-repository.ts';
import { loopbackEgress } from '../../support/loopback.ts';
import { access } from './setup.ts';

const wide = { bytes: 1e9, files: 1_000, depth: 20 };

async function openWith(
  repository: string,
  limits: Partial<TreeLimits>,
  transfer: TransferLimits = { bytes: 1e9, timeoutMs: 60_000 },
): Promise<{ error: unknown; written: string[] }> {
  const directory = await mkdtemp(join(tmpdir(), 'docket-limits-'));
  try {
    const home = join(directory, 'home');
    const git = createGit({ home, transports: ['http', 'file'], egress: loopbackEgress, transfer });
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
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** A tree that holds the same folder ten times, and so on down: 10^depth files in a few objects. */
async function makeBomb(repository: TestRepository, { depth, content }: { depth: number; content: string }) {
  await repository.commit({ blob: content });
  let entry = (await repository.git('ls-tree', 'main', 'blob')).split('\t')[0]!;
  for (let level = 0; level < depth; level += 1) {
    const names = Array.from({ length: 10 }, (_, index) => `${entry}\t${index}`).join('\n');
    entry = `040000 tree ${await repository.makeTree(`${names}\n`)}`;
  }
  const commit = await repository.git('commit-tree', entry.split(' ')[2]!, '-m', 'Bomb');
  await repository.git('update-ref', 'refs/heads/main', commit);
}

describe('the limits of a repository', () => {
  it('stop a fetch that brings more than it may, and name the setting', async () => {
    await using repository = await createTestRepository({ noise: randomBytes(3_000_000) });
    const { error } = await openWith(repository.path, {}, { bytes: 1_000_000, timeoutMs: 60_000 });
    expect(error).toBeInstanceOf(GitError);
    expect(error).toMatchObject({ kind: 'too-large', message: expect.stringMatching(/DOCKET_REPOSITORY_MB/) });
    expect(verdictOf(error)).toMatchObject({ category: 'repository_too_large', tolerated: 0 });
    expect((await openWith(repository.path, {})).error).toBeNull();
  });

  it('refuse a tree of more files than they allow before any is written, however few objects it is made of', async () => {
    await using repository = await createTestRepository({ 'README.md': 'x' });
    await makeBomb(repository, { depth: 9, content: 'x' });
    const { error, written } = await openWith(repository.path, {});
    expect(error).toMatchObject({ kind: 'too-large', message: expect.stringMatching(/DOCKET_REPOSITORY_FILES/) });
    expect(written).toEqual([]);
  });

  it('refuse a tree that takes more room than they allow', async () => {
    await using repository = await createTestRepository({ 'README.md': 'x' });
    await makeBomb(repository, { depth: 2, content: 'x'.repeat(100_000) });
    const { error, written } = await openWith(repository.path, { bytes: 5_000_000 });
    expect(error).toMatchObject({ kind: 'too-large', message: expect.stringMatching(/DOCKET_REPOSITORY_MB/) });
    expect(written).toEqual([]);
    expect((await openWith(repository.path, { bytes: 10_000_001 })).error).toBeNull();
  });

  it('refuse paths that are deeper or longer than a file system takes', async () => {
    await using deep = await createTestRepository({ [`${'a/'.repeat(30)}b`]: 'x' });
    const first = await openWith(deep.path, {});
    expect(first.error).toMatchObject({ kind: 'too-large', message: expect.stringMatching(/DOCKET_REPOSITORY_DEPTH/) });
    expect(first.written).toEqual([]);
    expect((await openWith(deep.path, { depth: 31 })).error).toBeNull();
    await using long = await createTestRepository({ [`${`${'n'.repeat(240)}/`.repeat(15)}b`]: 'x' });
    expect((await openWith(long.path, {})).error).toMatchObject({ kind: 'too-large' });
  });

  it('end an exchange that takes too long, and name the setting', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    try {
      const { port } = silent.address() as AddressInfo;
      const directory = await mkdtemp(join(tmpdir(), 'docket-limits-'));
      const transfer = { bytes: 1e9, timeoutMs: 300 };
      const git = createGit({ home: directory, transports: ['http'], egress: loopbackEgress, transfer });
      const remote = `http://127.0.0.1:${port}/a/b`;
      const { signal } = new AbortController();
      const call = { gitDir: directory, args: ['ls-remote', remote], transports: ['http'] as const, remote, signal };
      await expect(git.run(call)).rejects.toMatchObject({
        kind: 'timeout',
        message: expect.stringMatching(/DOCKET_CLONE_MINUTES/),
      });
      await rm(directory, { recursive: true, force: true });
    } finally {
      silent.close();
    }
  });
});
