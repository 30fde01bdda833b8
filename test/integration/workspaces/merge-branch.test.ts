import { defaultTreeLimits } from '../../../activities/workspaces/tree-limits.ts';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createTestGit } from '../../support/git.ts';
import { mergeBranch } from '../../../activities/workspaces/merge-branch.ts';
import { createTestRepository } from '../../support/git-repository.ts';

const directory = await mkdtemp(join(tmpdir(), 'docket-merge-'));
const git = createTestGit({ home: join(directory, 'home') });
afterAll(() => rm(directory, { recursive: true, force: true }));

function merge(repository: string, head = 'docket/fix', beforePush = () => Promise.resolve()) {
  return mergeBranch(
    git,
    { directory, limits: defaultTreeLimits },
    {
      repository,
      head,
      base: 'main',
      message: 'Merge pull request #1: Fix\n',
      date: new Date('2026-11-21T10:00:00Z'),
      beforePush,
      signal: AbortSignal.timeout(60_000),
    },
  );
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
  expect(await readdir(join(directory, 'merges'))).toEqual([]);
});

it('refuses conflicting changes and leaves both branches alone', async () => {
  await using repository = await createTestRepository({ 'a.txt': 'a\n' });
  await repository.git('branch', 'docket/fix', 'main');
  await repository.commit({ 'a.txt': 'one\n' }, { branch: 'docket/fix' });
  const base = await repository.commit({ 'a.txt': 'other\n' });
  expect(await merge(repository.path)).toEqual({ kind: 'refused', problem: expect.stringContaining('the same lines') });
  expect(await repository.git('rev-parse', 'main')).toBe(base);
});

it('refuses a branch that is gone', async () => {
  await using repository = await createTestRepository();
  expect(await merge(repository.path, 'docket/gone')).toEqual({
    kind: 'refused',
    problem: 'The branch docket/gone is no longer in the repository.',
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
  });
  expect(await readdir(join(directory, 'merges'))).toEqual([]);
});
