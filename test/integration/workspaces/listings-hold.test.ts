import { expect, it } from 'vitest';
import { findFilesAt } from '../../../activities/git/read-commit.ts';
import type { Git } from '../../../activities/git/git.ts';
import { createPathRules, problemWithChanges } from '../../../activities/tools/path-rules.ts';
import { createProcessHost } from '../../../activities/git/process-host.ts';
import { jobDirectoryOf } from '../../../activities/workspaces/job-directory.ts';
import { ownPaths } from '../../../activities/workspaces/own-paths.ts';
import { checkTree, defaultTreeLimits } from '../../../activities/workspaces/tree-limits.ts';
import { holdOf } from '../../support/database/hold-of.ts';

const { signal } = new AbortController();
const object = 'a'.repeat(40);

/** A git whose tree lists as many files as a repository may have. */
function gitThatLists(entryOf: (path: string) => string): Git {
  const paths = Array.from({ length: defaultTreeLimits.files }, (_, at) => `${'folder/'.repeat(12)}${at}/AGENTS.md`);
  const stdout = Buffer.from(paths.map((path) => `${entryOf(path)}\0`).join(''));
  return { run: () => Promise.resolve({ stdout, truncated: false }) } as unknown as Git;
}

it('measures the largest tree without blocking the worker', async () => {
  const git = gitThatLists((path) => `100644 blob ${object}       7\t${path}`);
  const check = () => checkTree(git, { gitDir: '', tree: object, limits: defaultTreeLimits, signal });
  expect(await check()).toEqual({ files: 200_000, bytes: 1_400_000 });
  expect(await holdOf(check)).toBe(0);
});

it('finds files in the largest tree without blocking the worker', { tags: 'slow' }, async () => {
  const git = gitThatLists((path) => `100644 blob ${object}\t${path}`);
  const find = (name: string) => findFilesAt(git, { gitDir: '', commit: object, names: [name], signal });
  expect(await find('AGENTS.md')).toHaveLength(200_000);
  expect(await holdOf(() => find('CLAUDE.md'))).toBe(0);
});

it('measures names by their bytes, whatever their encoding', async () => {
  const listing = (name: Buffer) => {
    const stdout = Buffer.concat([Buffer.from(`100644 blob ${object}       7\t`), name, Buffer.from('\0')]);
    return { run: () => Promise.resolve({ stdout, truncated: false }) } as unknown as Git;
  };
  const check = (name: Buffer) =>
    checkTree(listing(name), { gitDir: '', tree: object, limits: defaultTreeLimits, signal });
  expect(await check(Buffer.alloc(3_500, 0xff))).toEqual({ files: 1, bytes: 7 });
  await expect(check(Buffer.alloc(3_501, 0xff))).rejects.toThrow('3500 bytes');
  await expect(check(Buffer.from('ü'.repeat(1_751)))).rejects.toThrow('3500 bytes');
});

it('compares the largest changes without blocking the worker', async () => {
  const git = gitThatLists((path) => `:100644 100644 ${object} ${object} M\0${path}`);
  const job = jobDirectoryOf('jobs', 'job');
  const compare = () => ownPaths(git, { job, from: [object, object], tree: object, signal });
  expect(await compare()).toHaveLength(200_000);
  expect(await holdOf(compare)).toBe(0);
});

it('checks the largest change against a project’s rules without blocking the worker', async () => {
  const allowedPaths = Array.from({ length: 20 }, (_, at) => `**/folder-${at}/*.md`);
  const rules = createPathRules({ allowedPaths: [...allowedPaths, 'folder/**'], mayChangeWorkflows: false });
  const changes = Array.from({ length: 200_000 }, (_, at) => ({ path: `folder/${at}/file.ts` }));
  const check = async () => expect(await problemWithChanges(rules, changes)).toBeNull();
  expect(await holdOf(check)).toBe(0);
  const refused = [{ path: 'a' }, ...changes, { path: '.gitlab-ci.yml' }, { path: 'b' }];
  expect(await problemWithChanges(rules, refused)).toMatch(
    /^a may not be changed: .+ 2 more changes are not allowed\.$/,
  );
});

it('collects 64 MB of output without blocking the worker', { tags: ['slow'] }, async () => {
  const bytes = 64 * 1024 * 1024;
  using host = createProcessHost();
  const call = {
    file: 'head',
    args: ['-c', `${bytes}`, '/dev/zero'],
    cwd: '/',
    env: { PATH: process.env['PATH'] ?? '' },
    stdin: null,
    secretInput: null,
    maxFileBytes: null,
    maxMemoryBytes: null,
    maxOutputBytes: bytes,
    timeoutMs: 60_000,
    signal,
  };
  expect((await host.run(call)).stdout).toHaveLength(bytes);
  expect(await holdOf(() => host.run(call))).toBe(0);
});
