import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { changeBetween, changeOfTrees } from '../../../lib/patches/change-between.ts';
import { createWorkBudget } from '../../../lib/patches/work-budget.ts';
import { runTestGit, writeTestFiles, type TestFiles } from '../../support/git-repository.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'docket-changes-'));
  await git('init', '-q');
});

afterAll(() => rm(directory, { recursive: true, force: true }));

const git = (...args: string[]) => runTestGit(args, { cwd: directory });

/** The tree of the working copy after a change. */
async function treeWith(files: TestFiles): Promise<string> {
  await writeTestFiles(directory, files);
  await git('add', '--all');
  return git('write-tree');
}

async function baseWith(files: TestFiles): Promise<string> {
  await git('rm', '-rfq', '--cached', '--ignore-unmatch', '.');
  await git('clean', '-fdxq');
  return treeWith(files);
}

/** The patch of a tree as snapshots have it. */
async function patchOf(base: string, tree: string): Promise<string> {
  const patch = await git('diff-tree', '-p', '--binary', '-r', '-M', '--full-index', '--no-color', base, tree);
  return patch === '' ? '' : `${patch}\n`;
}

/** The tree that a patch makes of another one. */
async function applied(tree: string, patch: string): Promise<string> {
  if (patch === '') return tree;
  await writeTestFiles(directory, { '.git/step.patch': patch });
  await git('read-tree', tree);
  await git('apply', '--cached', '--unidiff-zero', '.git/step.patch');
  return git('write-tree');
}

const lines = (count: number, word = 'line') =>
  Array.from({ length: count }, (_, number) => `${word} ${number}\n`).join('');

/** Numbers that are the same in each run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const paths = ['a.txt', 'b c.txt', 'dir/ü.md', 'dir/"q".ts', 'empty', 'run.sh'];

function randomContent(random: (below: number) => number, before: string): string {
  const all = before.split('\n');
  for (let times = random(4); times >= 0; times -= 1) {
    const at = random(all.length + 1);
    const kind = random(3);
    if (kind === 0) all.splice(at, random(4));
    else all.splice(at, kind === 1 ? 0 : 1, ...Array.from({ length: random(4) }, () => `word ${random(30)}`));
  }
  return all.join('\n');
}

function randomFiles(random: (below: number) => number, known: Record<string, string>): TestFiles {
  const files: TestFiles = {};
  for (const path of paths) {
    const what = random(8);
    if (what < 3) continue;
    const before = known[path] ?? '';
    if (what === 3) files[path] = null;
    else if (what === 4) {
      const to = `${path}.${random(2)}`;
      files[path] = null;
      files[to] = known[to] = before;
    } else if (what === 5 && path === 'run.sh') files[path] = { executable: before };
    else files[path] = known[path] = randomContent(random, before === '' ? lines(random(40)) : before);
  }
  return files;
}

it(
  'finds what one tree changed in another, from their patches alone, as git would apply it',
  { tags: 'slow', timeout: 240_000 },
  async () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const random = randomOf(seed);
      const known: Record<string, string> = {};
      const first = Object.fromEntries(paths.map((path) => [path, (known[path] = lines(random(50), path))]));
      const base = await baseWith(first);
      const before = await treeWith(randomFiles(random, known));
      const after = await treeWith(randomFiles(random, known));
      const step = changeBetween(await patchOf(base, before), await patchOf(base, after));
      expect([seed, await applied(before, step)]).toEqual([seed, after]);
      // what it shows as replaced without a budget is as true
      const rough = changeBetween(await patchOf(base, before), await patchOf(base, after), createWorkBudget(0));
      if (seed % 4 === 0) expect([seed, 'rough', await applied(before, rough)]).toEqual([seed, 'rough', after]);
      const back = changeBetween(await patchOf(base, after), await patchOf(base, before));
      expect([seed, 'back', await applied(after, back)]).toEqual([seed, 'back', before]);
    }
  },
);

it('says what git says of files that are moved, made runnable, binary, links, gone or without a last line break', async () => {
  const bytes = (byte: number) => new Uint8Array([0, 1, byte, 255]);
  const base = await baseWith({
    'moved.txt': lines(20),
    'run.sh': 'true\n',
    'image.png': bytes(1),
    'gone.txt': lines(5, 'gone'),
    link: { link: 'run.sh' },
    'tail.txt': 'one\ntwo',
  });
  const before = await treeWith({ 'new.md': lines(8), 'moved.txt': lines(20).replace('line 3', 'line three') });
  const after = await treeWith({
    'moved.txt': null,
    'elsewhere.txt': lines(20).replace('line 3', 'line three'),
    'new.md': null,
    'newer name.md': lines(8),
    'run.sh': { executable: 'true\n' },
    'image.png': bytes(2),
    'gone.txt': null,
    link: { link: 'gone.txt' },
    'tail.txt': 'one\ntwo\n',
  });
  const step = changeBetween(await patchOf(base, before), await patchOf(base, after));
  const theirs = `${await git('diff-tree', '-p', '-r', '-M', '--full-index', '--no-color', before, after)}\n`;
  expect(step).toBe(theirs);
});

it('shows nothing of the file but what the step did to it', async () => {
  const base = await baseWith({ 'a.txt': lines(400) });
  const first = lines(400).replace('line 100\n', 'first\n');
  const before = await treeWith({ 'a.txt': first });
  const after = await treeWith({ 'a.txt': first.replace('line 300\n', 'second\n') });
  const step = changeBetween(await patchOf(base, before), await patchOf(base, after));
  expect(step).toContain('-line 300\n+second\n');
  expect(step).not.toContain('first');
});

it('compares a tree with its own commit where the one before stands on another', () => {
  const tree = (baseCommit: string, word: string) => ({ baseCommit, patch: `diff --git a/${word} b/${word}\n` });
  expect(changeOfTrees(tree('one', 'a'), tree('two', 'b'))).toEqual({ kind: 'base', patch: tree('two', 'b').patch });
});

it('names files where a patch was too large to be kept', () => {
  const list = 'The change is larger than 20 MB; these files differ:\nA\tbig.txt\nM\tother.txt\n';
  expect(changeBetween('', list)).toMatch(/\nA\tbig\.txt\nM\tother\.txt\n$/);
});
