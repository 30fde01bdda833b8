import { execFileSync } from 'node:child_process';
import { readdir, lstat, mkdir, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { parseAgentPath } from '../../../activities/tools/files/agent-path.ts';
import { openFolder } from '../../../activities/tools/files/beneath.ts';
import { putFile, readIn } from '../../../activities/tools/files/files.ts';
import { createTree, type TestTree } from './tree.ts';
import { propertyRuns } from '../../support/properties.ts';

// slow or busy machines need more time
vi.setConfig({ testTimeout: 60_000 });

const CHANGES: [string, (path: string) => Record<string, unknown>][] = [
  ['write', (path) => ({ path, content: 'pwned\n' })],
  ['edit', (path) => ({ path, old: 'top', new: 'pwned' })],
  ['multi_edit', (path) => ({ path, edits: [{ old: 'top', new: 'pwned' }] })],
];

async function expectSecretUntouched(tree: TestTree): Promise<void> {
  const secret = await tree.text('../outside/secret.txt');
  expect(secret).toBe('top secret\n');
}

it.each(CHANGES)(
  '%s writes through no symbolic link, inside or outside the tree, dangling or not',
  async (tool, input) => {
    await using tree = await createTree({ 'real.txt': 'top\n', 'folder/a.txt': 'top\n' });
    await symlink('../outside/secret.txt', tree.path('out.txt'));
    await symlink(join(tree.outside, 'new.txt'), tree.path('dangling.txt'));
    await symlink('real.txt', tree.path('inside.txt'));
    await symlink('../outside', tree.path('out'));
    await symlink('folder', tree.path('in'));
    for (const path of [
      'out.txt',
      'dangling.txt',
      'inside.txt',
      'out/secret.txt',
      'out/new.txt',
      'in/a.txt',
      'in/new/b.txt',
    ]) {
      const output = await tree.run(tool, input(path));
      expect(output.isError).toBe(true);
      expect(output.text).toMatch(/symbolic link|does not exist/);
    }
    await expectSecretUntouched(tree);
    expect(await tree.text('real.txt')).toBe('top\n');
    expect(await tree.text('folder/a.txt')).toBe('top\n');
    await expect(lstat(join(tree.outside, 'new.txt'))).rejects.toThrow('ENOENT');
  },
);

it('moves and deletes nothing through a symbolic link', async () => {
  await using tree = await createTree({ 'a.txt': 'a\n' });
  await symlink('../outside', tree.path('out'));
  for (const [tool, input] of [
    ['delete', { path: 'out/secret.txt' }],
    ['move', { from: 'out/secret.txt', to: 'b.txt' }],
    ['move', { from: 'a.txt', to: 'out/b.txt' }],
    ['move', { from: 'a.txt', to: 'out/new/b.txt' }],
    ['move', { from: 'out', to: 'in' }],
  ] as const) {
    expect((await tree.run(tool, input)).isError).toBe(true);
  }
  await expectSecretUntouched(tree);
  expect((await tree.run('delete', { path: 'out', recursive: true })).text).toBe('Deleted out.');
  await expectSecretUntouched(tree);
});

it('deletes a folder with its links, but not their targets', async () => {
  await using tree = await createTree({ 'd/e/a.txt': 'a' });
  await symlink('../../outside', tree.path('d/out'));
  expect(await tree.run('delete', { path: 'd' })).toMatchObject({ isError: true });
  expect((await tree.run('delete', { path: 'd', recursive: true })).text).toBe('Deleted d with 2 files.');
  await expectSecretUntouched(tree);
  await expect(lstat(tree.path('d'))).rejects.toThrow('ENOENT');
});

it('reads through links only if they stay in the tree', async () => {
  await using tree = await createTree({ 'docs/a.md': 'hello\n', '.git/config': 'token\n', 'x/.git/config': 'token\n' });
  const links = {
    'link.md': 'docs/a.md',
    'docs/up.md': '../link.md',
    'absolute.md': tree.path('docs/a.md'),
    'around.md': 'docs/../docs/./a.md',
    folder: 'docs',
    'out.md': '../outside/secret.txt',
    'out-absolute.md': join(tree.outside, 'secret.txt'),
    beside: '../outside',
    'through-out.md': '../outside/../tree/docs/a.md',
    environ: '/proc/self/environ',
    git: '.git',
    config: 'x/.git/config',
    self: 'self',
    ping: 'pong',
    pong: 'ping',
    zero: '/dev/zero',
    missing: '/nowhere/at/all',
  };
  for (const [name, target] of Object.entries(links)) await symlink(target, tree.path(name));
  for (const path of ['link.md', 'docs/up.md', 'absolute.md', 'around.md', 'folder/a.md']) {
    expect((await tree.run('read', { path })).text).toContain('1|hello');
  }
  for (const path of [
    'out.md',
    'out-absolute.md',
    'beside/secret.txt',
    'through-out.md',
    'environ',
    'zero',
    'missing',
  ]) {
    expect(await tree.run('read', { path })).toEqual({
      text: `${path} leads outside the repository through a symbolic link.`,
      isError: true,
    });
  }
  for (const path of ['git/config', 'config'])
    expect((await tree.run('read', { path })).text).toContain('not accessible');
  for (const path of ['self', 'ping'])
    expect((await tree.run('read', { path })).text).toContain('a symbolic link to itself');
  expect((await tree.run('grep', { pattern: 'secret|token', path: 'beside' })).isError).toBe(true);
  expect((await tree.run('grep', { pattern: 'secret|token' })).text).toBe('No line matches secret|token.');
});

it('opens no pipe, socket, device or folder, and does not wait for one', async () => {
  await using tree = await createTree({ 'folder/a.txt': 'a' });
  execFileSync('mkfifo', [tree.path('pipe')]);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(tree.path('socket'), resolve));
  try {
    for (const path of ['pipe', 'socket']) {
      expect((await tree.run('read', { path })).text).toBe(
        `${path} is not a regular file (a pipe, a socket or a device).`,
      );
      for (const [tool, input] of CHANGES) expect((await tree.run(tool, input(path))).isError).toBe(true);
    }
    expect((await tree.run('read', { path: 'folder' })).text).toContain('use list');
    expect((await tree.run('read', { path: '.' })).isError).toBe(true);
    expect((await tree.run('read', { path: 'folder/a.txt/b' })).isError).toBe(true);
    expect((await tree.run('grep', { pattern: 'a' })).text).toBe('folder/a.txt:1: a');
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

it('opens nothing over the size limit, however sparse it is on disk', async () => {
  await using tree = await createTree({ 'sparse.bin': '' });
  await truncate(tree.path('sparse.bin'), 2 ** 40);
  expect((await tree.run('read', { path: 'sparse.bin' })).text).toContain('larger than');
  expect((await tree.run('edit', { path: 'sparse.bin', old: 'a', new: 'b' })).text).toContain('larger than');
  expect((await tree.run('grep', { pattern: 'a' })).text).toContain('No line matches');
  const large = await tree.run('write', { path: 'large.txt', content: 'x'.repeat(10 * 1024 * 1024 + 1) });
  expect(large).toMatchObject({ isError: true });
  await expect(lstat(tree.path('large.txt'))).rejects.toThrow('ENOENT');
});

it('stays in the folder it opened when a symbolic link replaces it', async () => {
  await using tree = await createTree({ 'docs/a.txt': 'one\n' });
  await using folder = await openFolder(tree.root, parseAgentPath('docs'));
  const { stat } = await readIn(folder, 'a.txt', 'docs/a.txt');
  await rename(tree.path('docs'), tree.path('moved'));
  await symlink('../outside', tree.path('docs'));
  await writeFile(join(tree.outside, 'a.txt'), 'outside\n');
  if (process.platform !== 'linux') return;
  await putFile(folder, { name: 'a.txt', shown: 'docs/a.txt', bytes: Buffer.from('two\n'), replaces: stat });
  expect(await tree.text('moved/a.txt')).toBe('two\n');
  expect(await tree.text('../outside/a.txt')).toBe('outside\n');
});

it('reaches nothing outside while a folder keeps being swapped with a link', async () => {
  await using tree = await createTree({ 'docs/a.txt': 'inside 0\n' });
  await symlink('../outside', tree.path('link'));
  await writeFile(join(tree.outside, 'a.txt'), 'inside secret\n');
  const stop = new AbortController();
  const flips = (async () => {
    while (!stop.signal.aborted) {
      await rename(tree.path('docs'), tree.path('real'));
      await rename(tree.path('link'), tree.path('docs'));
      await rename(tree.path('docs'), tree.path('link'));
      await rename(tree.path('real'), tree.path('docs'));
    }
  })();
  try {
    for (let round = 1; round <= propertyRuns(300); round += 1) {
      const { text } = await tree.run('read', { path: 'docs/a.txt' });
      expect(text).not.toContain('secret');
      await tree.run('edit', { path: 'docs/a.txt', old: 'inside', new: 'inside -' });
    }
  } finally {
    stop.abort();
    await flips;
  }
  expect(await tree.text('../outside/a.txt')).toBe('inside secret\n');
});

it('refuses to replace a file that changed meanwhile', async () => {
  await using tree = await createTree({ 'a.txt': 'one\n' });
  await using folder = await openFolder(tree.root, parseAgentPath('.'));
  const { stat } = await readIn(folder, 'a.txt', 'a.txt');
  await writeFile(tree.path('a.txt'), 'changed\n');
  const put = putFile(folder, { name: 'a.txt', shown: 'a.txt', bytes: Buffer.from('two\n'), replaces: stat });
  await expect(put).rejects.toThrow('changed in the meantime');
  expect(await tree.text('a.txt')).toBe('changed\n');
  expect((await tree.run('list', {})).text).toBe('a.txt  8 B');
});

it('throws when the tree itself is gone', async () => {
  await using tree = await createTree({ 'a.txt': 'a' });
  await rm(tree.root, { recursive: true });
  for (const tool of ['read', 'list', 'grep']) {
    await expect(tree.run(tool, { path: 'a.txt', pattern: 'a' })).rejects.toThrow('ENOENT');
  }
});

it('does not enter .git, however it is spelled', async () => {
  await using tree = await createTree({
    '.git/config': 'needle\n',
    'sub/.GIT/config': 'needle\n',
    'sub/a.txt': 'needle\n',
  });
  await mkdir(tree.path('git~1'));
  expect((await tree.run('grep', { pattern: 'needle' })).text).toBe('sub/a.txt:1: needle');
  expect((await tree.run('glob', { pattern: '**' })).text).toBe('sub/a.txt');
  expect((await tree.run('list', { depth: 3 })).text).toBe('sub/\nsub/a.txt  7 B');
  for (const [tool, input] of CHANGES) expect((await tree.run(tool, input('sub/.GIT/config'))).isError).toBe(true);
  expect((await tree.run('move', { from: 'sub/a.txt', to: '.git/hooks/pre-commit' })).isError).toBe(true);
  expect((await tree.run('delete', { path: 'sub', recursive: true })).isError).toBe(true);
});

it('opens, writes, moves and deletes nothing whose name is not UTF-8, and says why', async () => {
  await using tree = await createTree({ 'd/a.txt': 'a\n', 'd/e/\uFFFD.txt': 'b\n' });
  await writeFile(Buffer.concat([Buffer.from(`${tree.path('d/e')}/`), Buffer.from([0xff])]), 'c\n');
  const text = 'The name of d/e/\uFFFD is not valid UTF-8, so no tool can open it.';
  const path = 'd/e/\uFFFD';
  expect(await tree.run('delete', { path: 'd', recursive: true })).toEqual({
    text: `${text} Nothing was deleted.`,
    isError: true,
  });
  expect(await tree.run('delete', { path })).toEqual({ text, isError: true });
  expect(await tree.run('read', { path })).toEqual({ text, isError: true });
  expect(await tree.run('write', { path, content: 'd\n' })).toEqual({ text, isError: true });
  expect((await tree.run('write', { path: 'd/\uFFFD/f', content: 'd\n' })).isError).toBe(true);
  expect((await tree.run('write', { path: 'd/e/\uFFFD.txt', content: 'd\n' })).isError).toBe(false);
  expect(await tree.run('edit', { path, old: 'c', new: 'd' })).toEqual({ text, isError: true });
  expect(await tree.run('move', { from: path, to: 'd/c' })).toEqual({ text, isError: true });
  expect(await tree.text('d/a.txt')).toBe('a\n');
  expect((await readdir(tree.path('d'))).toSorted()).toEqual(['a.txt', 'e']);
  expect((await tree.run('delete', { path: 'd/e/\uFFFD.txt' })).isError).toBe(false);
});
