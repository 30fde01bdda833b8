import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createToolset } from '../../../activities/tools/toolset.ts';
import { createWorkspaces } from '../../../activities/workspaces/workspaces.ts';
import { createTestGit } from '../../support/git.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const toolset = createToolset();
const { signal } = new AbortController();
const resources = new AsyncDisposableStack();
let run: (tool: string, input?: unknown) => Promise<{ text: string; isError: boolean }>;
let tree: string;
let firstCommit: string;
let withdrawn: string;

beforeAll(async () => {
  const directory = temporaryDirectory();
  const repository = resources.use(await createTestRepository({ 'a.txt': 'one\ntwo\n', 'docs/b.md': 'page\n' }));
  firstCommit = await repository.git('rev-parse', 'main');
  await repository.git('update-ref', 'refs/tags/v1', firstCommit);
  // a commit that the mirror fetches and that its branch then loses
  withdrawn = await repository.commit({ 'secret.txt': 'withdrawn' }, { branch: 'gone', message: 'Withdraw me' });
  const git = createTestGit({ home: join(directory, 'home'), transports: ['file'] });
  const workspaces = createWorkspaces({ git, directory: join(directory, 'work') });
  const access = { organizationId: 'org_test', repository: repository.path, credential: null, signal };
  await workspaces.resolve({ ...access, ref: null });
  await repository.git('update-ref', '-d', 'refs/heads/gone');
  await repository.commit(
    { 'a.txt': 'one\nTWO\n', 'big.txt': 'line\n'.repeat(40_000) },
    { message: 'Shout: \u001b[2J\u202Etwo' },
  );
  await repository.commit({ 'docs/b.md': 'page 2\n', '-p': 'option\n' }, { message: 'Write docs' });
  const more = { 'old.txt': Buffer.from('Caf\xe9\n', 'latin1'), 'a.bin': new Uint8Array([0, 1]) };
  await repository.commit({ '.gitattributes': '*.txt diff=evil\n', ...more }, { message: 'Attributes' });
  const { commit } = await workspaces.resolve({ ...access, ref: null });
  const opened = await workspaces.open({ ...access, jobId: 'job', baseCommit: commit, snapshot: null });
  resources.defer(() => opened.release());
  tree = opened.path;
  const context = { root: tree, signal, history: opened.history };
  run = (tool, input = {}) => toolset[tool]!.run(input, context);
});
afterAll(() => resources.disposeAsync());

it('lists commits, of a path, of a ref, or by their message', async () => {
  const all = (await run('log')).text.split('\n');
  expect(all.map((line) => line.replace(/^[0-9a-f]+ /, ''))).toEqual([
    '2026-01-01 Test: Attributes',
    '2026-01-01 Test: Write docs',
    '2026-01-01 Test: Shout: <U+001B>[2J<U+202E>two',
    '2026-01-01 Test: Begin',
  ]);
  expect((await run('log', { path: 'docs', limit: 1 })).text).toMatch(/^[0-9a-f]+ 2026-01-01 Test: Write docs$/);
  expect((await run('log', { ref: 'v1' })).text).toMatch(/Begin$/);
  expect((await run('log', { ref: 'main~3' })).text).toBe((await run('log', { ref: firstCommit.slice(0, 8) })).text);
  expect((await run('log', { message: 'WRITE' })).text).toMatch(/^[0-9a-f]+ 2026-01-01 Test: Write docs$/);
  expect((await run('log', { message: '--all' })).text).toBe('No commit matches.');
  expect((await run('log', { path: '-p' })).text).toMatch(/Write docs$/);
});

it('names the commit of each line', async () => {
  const { text } = await run('blame', { path: 'a.txt' });
  expect(text.split('\n')).toEqual([expect.stringMatching(/1\) one$/), expect.stringMatching(/2\) TWO$/)]);
  expect(text).toContain(firstCommit.slice(0, 7));
  expect((await run('blame', { path: 'a.txt', offset: 2, limit: 1 })).text).toMatch(/2\) TWO$/);
  expect(await run('blame', { path: 'a.txt', offset: 9 })).toMatchObject({
    isError: true,
    text: 'a.txt has fewer than 9 lines in that commit.',
  });
  expect((await run('blame', { path: 'docs' })).text).toBe('docs is not a file.');
  expect((await run('blame', { path: 'none' })).text).toBe('none does not exist in that commit.');
});

it('shows a commit, a part of it, and a file as it was', async () => {
  const { text } = await run('show', { ref: 'HEAD~1' });
  expect(text).toContain('Write docs');
  expect(text).toContain('+page 2');
  expect((await run('show', { ref: 'HEAD~1', path: '-p' })).text).not.toContain('+page 2');
  expect((await run('show', { ref: 'v1', file: 'a.txt' })).text).toMatch(
    /^a\.txt \(2 lines, 8 B, etag [0-9a-f]{40}, LF line endings\)\n {5}1\|one\n {5}2\|two$/,
  );
  const latin1 = (await run('show', { ref: 'HEAD', file: 'old.txt' })).text;
  expect(latin1).toMatch(/not UTF-8, shown as Latin-1\)\n {5}1\|Café$/);
  expect(await run('show', { ref: 'HEAD', file: 'a.bin' })).toEqual({
    isError: true,
    text: 'a.bin is a binary file (2 B).',
  });
});

it('shows the change between commits, and what the agent has changed', async () => {
  expect((await run('diff')).text).toBe('There is no difference.');
  await writeFile(join(tree, 'docs/b.md'), 'page 3\n');
  await writeFile(join(tree, 'new.md'), 'new\n');
  const own = (await run('diff')).text;
  expect(own).toContain('+page 3');
  expect(own).toContain('+++ b/new.md');
  expect((await run('diff', { path: 'docs' })).text).not.toContain('new.md');
  expect((await run('diff', { from: 'v1', to: 'HEAD', path: 'a.txt' })).text).toContain('-two\n+TWO');
});

it('bounds its output and says so', async () => {
  const { text } = await run('show', { ref: 'HEAD~2', path: 'big.txt' });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(50 * 1024);
  expect(text).toMatch(/\[The output is longer\. Ask for less/);
  const whole = { ref: 'main', file: 'big.txt' };
  expect((await run('show', whole)).text).toMatch(/\[38000 more lines; continue with offset 2001\.\]$/);
  expect((await run('show', { ...whole, offset: 39_999 })).text).toMatch(/ 39999\|line\n 40000\|line$/);
});

it.each([
  '--all',
  '-p',
  '--output=/tmp/x',
  'HEAD --all',
  'main..v1',
  'main:a.txt',
  ':/Begin',
  'main@{1}',
  '^main',
  'HEAD^^',
  'HEAD~999999',
  'main\n--all',
  '../../HEAD',
  'refs/heads/*',
  '',
])('refuses the ref %j', async (ref) => {
  for (const [tool, input] of [
    ['log', { ref }],
    ['show', { ref }],
    ['blame', { ref, path: 'a.txt' }],
    ['diff', { from: ref }],
  ] as const)
    expect(await run(tool, input)).toMatchObject({ isError: true });
});

it.each(['../outside', '/etc/passwd', '.git/config', 'a\u0000b'])('refuses the path %j', async (path) => {
  for (const tool of ['log', 'show', 'diff'])
    expect(await run(tool, { path, ref: 'HEAD', from: 'HEAD' })).toMatchObject({ isError: true });
});

it('finds no commit that no branch or tag has', async () => {
  for (const ref of [withdrawn, withdrawn.slice(0, 10), 'gone'])
    expect(await run('show', { ref })).toMatchObject({
      isError: true,
      text: expect.stringContaining('No branch or tag of the repository has the commit'),
    });
});
