import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRunTool } from '../../../activities/tools/run-tool.ts';
import { createToolset } from '../../../activities/tools/toolset.ts';
import type { OpenWorkspace } from '../../../activities/workspaces/open-workspace.ts';
import { createWorkspaces, type Workspaces } from '../../../activities/workspaces/workspaces.ts';
import { createTestGit } from '../../support/git.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const toolset = createToolset();
const { signal } = new AbortController();
const resources = new AsyncDisposableStack();
let workspaces: Workspaces;
let opened: OpenWorkspace;

beforeAll(async () => {
  const directory = temporaryDirectory();
  const repository = resources.use(
    await createTestRepository({
      '.gitignore': 'node_modules\n/dist/*\n*.log\n',
      '.gitmodules': '[submodule "lib"]\n\tpath = lib\n\turl = https://example.com/lib.git\n',
      'src/a.ts': 'wanted\n',
      'dist/kept.js': 'wanted\n',
      'packages/p/index.js': '',
    }),
  );
  const listing = await repository.git('ls-tree', 'main');
  const tree = await repository.makeTree(`${listing}\n160000 commit ${'a'.repeat(40)}\tlib\n`);
  const commit = await repository.git('commit-tree', tree, '-p', 'main', '-m', 'Add a submodule');
  await repository.git('update-ref', 'refs/heads/main', commit);
  const git = createTestGit({ home: join(directory, 'home'), transports: ['file'] });
  workspaces = createWorkspaces({ git, directory: join(directory, 'work') });
  const access = { organizationId: 'org_test', repository: repository.path, credential: null, signal };
  const { commit: baseCommit } = await workspaces.resolve({ ...access, ref: null });
  opened = await workspaces.open({ ...access, jobId: 'job', baseCommit, snapshot: null });
  resources.defer(() => opened.release());
  await opened.keepLayer(['generated']);
  for (const path of ['node_modules/x/a.ts', 'packages/p/node_modules/y.ts', 'dist/a.ts', 'a.log', 'generated/a.ts']) {
    await mkdir(dirname(join(opened.path, path)), { recursive: true });
    await writeFile(join(opened.path, path), 'wanted\n');
  }
});
afterAll(() => resources.disposeAsync());

async function run(tool: string, input: unknown): Promise<string> {
  const { path: root, leftOut, ignoredPaths } = opened;
  return (await toolset[tool]!.run(input, { root, signal, leftOut, ignoredPaths })).text;
}

it('leaves out of a search what ignore rules cover, unless it is named', async () => {
  expect(await run('grep', { pattern: 'wanted' })).toBe('dist/kept.js:1: wanted\nsrc/a.ts:1: wanted');
  expect(await run('glob', { pattern: '*.ts' })).toBe('src/a.ts');
  expect(await run('grep', { pattern: 'wanted', path: 'node_modules' })).toBe('node_modules/x/a.ts:1: wanted');
  expect(await run('glob', { pattern: '*.ts', path: 'node_modules/x' })).toBe('node_modules/x/a.ts');
  expect(await run('grep', { pattern: 'wanted', path: 'a.log' })).toBe('a.log:1: wanted');
  expect(await run('grep', { pattern: 'missing' })).toBe(
    'No line matches missing.\n' +
      '[Not searched, because git ignores it: a.log, dist/a.ts, generated, node_modules, packages/p/node_modules]',
  );
  expect(await run('glob', { pattern: '*.py' })).toContain(
    'No file matches *.py.\n[Not searched, because git ignores it: ',
  );
});

it('does not list what an ignored folder holds, unless it is named', async () => {
  const listed = (await run('list', { depth: 3 })).split('\n');
  expect(listed).toContain('node_modules/  (ignored by git)');
  expect(listed).toContain('src/a.ts  7 B');
  expect(listed.filter((line) => line.startsWith('node_modules/x'))).toEqual([]);
  expect(await run('list', { path: 'node_modules', depth: 2 })).toBe('node_modules/x/\nnode_modules/x/a.ts  7 B');
});

it('names the files that a command adds to the change', async () => {
  const { path: root, newPaths } = opened;
  const end = { exitCode: 0, stopped: null, durationMs: 1, notes: [] };
  const output = { head: Buffer.from('done'), tail: Buffer.alloc(0), omitted: 0 };
  const runCommand = async () => ({ ...end, output });
  const tool = createRunTool({ maxSeconds: 60 });
  const ran = async () => (await tool.run({ command: 'make' }, { root, signal, runCommand, newPaths })).text;
  expect(await ran()).toBe('[exit code 0]\ndone');
  for (const path of ['core.1', 'src/__pycache__/a.pyc', 'b.log']) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), 'x');
  }
  expect(await ran()).toBe(
    '[exit code 0]\ndone\n[New files of this answer: core.1, src/__pycache__. Delete what does not belong to the change.]',
  );
  for (const path of ['core.1', 'src/__pycache__', 'b.log']) await rm(join(root, path), { recursive: true });
});

it('continues when a command has made a tree that git cannot list', { tags: 'slow' }, async () => {
  const pipe = join(opened.path, 'src/.gitignore');
  await promisify(execFile)('mkfifo', [pipe]);
  expect(await run('grep', { pattern: 'wanted', path: 'src' })).toBe('src/a.ts:1: wanted');
  await rm(pipe);
});

it('says of every change to a file that git leaves out that it is not published', async () => {
  const ignored = 'is not part of the pull request';
  expect(await run('write', { path: 'b.log', content: 'one\n' })).toContain(ignored);
  expect(await run('write', { path: 'b.log', content: 'two\n' })).toContain(ignored);
  expect(await run('edit', { path: 'node_modules/x/a.ts', old: 'wanted', new: 'patched' })).toContain(ignored);
  expect(await run('edit', { path: 'generated/a.ts', old: 'wanted', new: 'patched' })).toContain(ignored);
  expect(await run('write', { path: 'lib/a.ts', content: 'one\n' })).toContain(
    'lib/a.ts is in a submodule, which is another repository: it is not part of the pull request.',
  );
  for (const path of ['src/a.ts', 'dist/kept.js']) {
    expect(await run('edit', { path, old: 'wanted', new: 'changed' })).not.toContain(ignored);
  }
  const { baseCommit } = opened;
  const { snapshot } = await workspaces.snapshot('job', { baseCommit, sinceTree: null, signal });
  expect(snapshot?.patch.match(/^diff --git .*$/gm)).toEqual([
    'diff --git a/dist/kept.js b/dist/kept.js',
    'diff --git a/src/a.ts b/src/a.ts',
  ]);
});
