import { defaultTreeLimits } from '../../../activities/workspaces/tree-limits.ts';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTestGit } from '../../support/git.ts';
import type { MergeMethod } from '../../../activities/forges/merge-pull-request.ts';
import { checkMerge, deleteBranch, mergeBranch } from '../../../activities/workspaces/merge-branch.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const directory = temporaryDirectory();
const git = createTestGit({ home: join(directory, 'home') });

const settings = { directory, limits: defaultTreeLimits };
const pair = (repository: string) => ({
  repository,
  head: 'docket/fix',
  base: 'main',
  signal: AbortSignal.timeout(60_000),
});

function merge(
  repository: string,
  head = 'docket/fix',
  beforePush = () => Promise.resolve(),
  method: MergeMethod = 'merge',
) {
  return mergeBranch(git, settings, {
    method,
    repository,
    head,
    base: 'main',
    message: 'Merge pull request #1: Fix\n',
    date: new Date('2026-11-21T10:00:00Z'),
    beforePush,
    signal: AbortSignal.timeout(60_000),
  });
}

const kindOf = { kind: 'merged', commit: expect.stringMatching(/^[0-9a-f]{40}$/) };

it('joins both sides in a merge commit, and reports a second merge as done', async () => {
  await using repository = await createTestRepository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  await repository.git('branch', 'docket/fix', 'main');
  await repository.commit({ 'a.txt': 'A\n' }, { branch: 'docket/fix' });
  await repository.commit({ 'b.txt': 'B\n' });
  const first = await merge(repository.path);
  expect(first).toEqual(kindOf);
  expect(await repository.read('main')).toEqual({ 'a.txt': '100644 A', 'b.txt': '100644 B' });
  expect(await repository.git('log', '-1', '--format=%s %P', 'main')).toMatch(
    /^Merge pull request #1: Fix [0-9a-f]{40} [0-9a-f]{40}$/,
  );

  const head = await repository.git('rev-parse', 'main');
  expect(await merge(repository.path)).toEqual({ kind: 'merged', commit: head });
  expect(await repository.git('rev-parse', 'main')).toBe(head);
  expect(await readdir(join(directory, 'trash'))).toEqual([]);
});

it('refuses conflicting changes and leaves both branches alone', async () => {
  await using repository = await createTestRepository({ 'a.txt': 'a\n' });
  await repository.git('branch', 'docket/fix', 'main');
  await repository.commit({ 'a.txt': 'one\n' }, { branch: 'docket/fix' });
  const base = await repository.commit({ 'a.txt': 'other\n' });
  expect(await merge(repository.path)).toEqual({
    kind: 'refused',
    problem: expect.stringContaining('the same lines'),
    cause: 'conflict',
    conflicts: ['a.txt'],
  });
  expect(await repository.git('rev-parse', 'main')).toBe(base);
});

it('says that the branch is checked out in a repository with a working copy', async () => {
  await using repository = await createTestRepository({ 'a.txt': 'a\n' });
  await repository.git('branch', 'docket/fix', 'main');
  await repository.commit({ 'a.txt': 'A\n' }, { branch: 'docket/fix' });
  await repository.git('symbolic-ref', 'HEAD', 'refs/heads/main');
  await repository.git('config', 'core.bare', 'false');
  const base = await repository.git('rev-parse', 'main');
  expect(await merge(repository.path)).toMatchObject({
    kind: 'refused',
    problem: expect.stringContaining('checked out in the repository'),
  });
  await repository.git('config', 'core.bare', 'true');
  expect(await repository.git('rev-parse', 'main')).toBe(base);
  expect(await merge(repository.path)).toEqual(kindOf);
});

it('squashes a branch into one commit, and reports a second squash as done', async () => {
  await using repository = await createTestRepository({ 'a.txt': 'a\n', 'b.txt': 'b\n' });
  await repository.git('branch', 'docket/fix', 'main');
  await repository.commit({ 'a.txt': 'A\n' }, { branch: 'docket/fix' });
  await repository.commit({ 'c.txt': 'C\n' }, { branch: 'docket/fix' });
  const base = await repository.commit({ 'b.txt': 'B\n' });
  const squash = () => merge(repository.path, 'docket/fix', () => Promise.resolve(), 'squash');
  const first = await squash();
  expect(first).toEqual(kindOf);
  expect(await repository.read('main')).toEqual({ 'a.txt': '100644 A', 'b.txt': '100644 B', 'c.txt': '100644 C' });
  expect(await repository.git('log', '-1', '--format=%P', 'main')).toBe(base);
  expect(await squash()).toEqual(first);
});

it('names the files with conflicts without changing anything', async () => {
  await using repository = await createTestRepository({ 'a.txt': 'a\n', 'größe b.txt': 'b\n', 'c.txt': 'c\n' });
  await repository.git('branch', 'docket/fix', 'main');
  expect(await checkMerge(git, settings, pair(repository.path))).toBeNull();
  await repository.commit({ 'a.txt': 'one\n', 'größe b.txt': 'one\n' }, { branch: 'docket/fix' });
  const base = await repository.commit({ 'a.txt': 'other\n', 'größe b.txt': 'other\n', 'c.txt': 'C\n' });
  expect(await checkMerge(git, settings, pair(repository.path))).toMatchObject({ conflicts: ['a.txt', 'größe b.txt'] });
  expect(await repository.git('rev-parse', 'main')).toBe(base);
});

it('deletes a branch, and does not mind when it is gone', async () => {
  await using repository = await createTestRepository();
  await repository.git('branch', 'docket/fix', 'main');
  const merged = { ...pair(repository.path), headCommit: null, credential: null };
  await deleteBranch(git, settings, merged);
  await deleteBranch(git, settings, merged);
  expect(await repository.git('branch', '--list')).toBe('* main');
});

it('neither merges nor deletes a branch that has moved since a person saw it', async () => {
  await using repository = await createTestRepository({ 'a.txt': 'a\n' });
  await repository.git('branch', 'docket/fix', 'main');
  await repository.commit({ 'b.txt': 'b\n' }, { branch: 'docket/fix' });
  const headCommit = await repository.git('rev-parse', 'docket/fix');
  await repository.commit({ 'c.txt': 'c\n' }, { branch: 'docket/fix' });
  const moved = { kind: 'refused', problem: expect.stringContaining('not shown here'), cause: 'moved', conflicts: [] };
  const seen = { ...pair(repository.path), headCommit };
  const how = { method: 'merge', message: 'Merge\n', date: new Date(0), beforePush: async () => {} } as const;
  expect(await mergeBranch(git, settings, { ...seen, ...how })).toEqual(moved);
  expect(await checkMerge(git, settings, seen)).toEqual(moved);
  await deleteBranch(git, settings, { ...seen, credential: null });
  const now = await repository.git('rev-parse', 'docket/fix');
  expect(await mergeBranch(git, settings, { ...seen, ...how, headCommit: now })).toEqual(kindOf);
});

it('refuses a branch that is gone', async () => {
  await using repository = await createTestRepository();
  expect(await merge(repository.path, 'docket/gone')).toEqual({
    kind: 'refused',
    problem: 'The branch docket/gone is no longer in the repository.',
    cause: null,
    conflicts: [],
  });
});

it('reports that two branches have nothing in common', async () => {
  await using repository = await createTestRepository({ 'a.txt': 'a\n' });
  const tree = await repository.git('rev-parse', 'main^{tree}');
  const other = await repository.git('commit-tree', tree, '-m', 'Another beginning');
  await repository.git('update-ref', 'refs/heads/docket/fix', other);
  expect(await merge(repository.path)).toEqual({
    kind: 'refused',
    problem: expect.stringContaining('have no common commit'),
    cause: null,
    conflicts: [],
  });
  expect(await readdir(join(directory, 'trash'))).toEqual([]);
});
