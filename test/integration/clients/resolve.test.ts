import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTestRepository, runTestGit } from '../../support/git-repository.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { access, createTestWorkspaces } from './setup.ts';

it('gives no organization what another one was allowed to read', async () => {
  await using repository = await createTestRepository({ 'secret.txt': 'ours' });
  await using test = await createTestWorkspaces();
  const own = access(repository.path);
  const { commit } = await test.workspaces.resolve({ ...own, ref: null });
  await rename(repository.path, `${repository.path}.gone`);
  const read = { ...own, commit, path: 'secret.txt', maxBytes: 100 };
  expect((await test.workspaces.readFile(read))?.toString()).toBe('ours');
  const other = { ...read, organizationId: 'org_other' };
  await expect(test.workspaces.readFile(other)).rejects.toMatchObject({ kind: 'not-found' });
  const job = { jobId: 'job_other', baseCommit: commit, snapshot: null };
  await expect(test.workspaces.open({ ...other, ...job })).rejects.toMatchObject({ kind: 'not-found' });
  await rename(`${repository.path}.gone`, repository.path);
});

describe('resolve', () => {
  it('finds the default branch, branches, tags and commits of the repository', async () => {
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
    await writeFile(join(repository.path, 'HEAD'), 'ref: refs/tags/heavy\n');
    expect(await resolve(null)).toEqual({ branch: 'main', commit: first });
  });

  it('sees the current state of the remote, even after a branch was rewritten or became a folder', async () => {
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

  it('asks for the full id of a commit that is abbreviated', async () => {
    await using repository = await createTestRepository();
    await using test = await createTestWorkspaces();
    const short = await repository.git('rev-parse', '--short=7', 'main');
    const message = async (ref: string) =>
      await test.workspaces.resolve({ ...access(repository.path), ref }).catch((error: unknown) => String(error));
    expect(await message(short)).toContain('full id of 40 hexadecimal digits');
    expect(await message('nope')).not.toContain('hexadecimal');
  });

  it('says that a repository with SHA-256 object ids is not supported', async () => {
    await using test = await createTestWorkspaces();
    const cwd = temporaryDirectory();
    const git = (...args: string[]) => runTestGit(args, { cwd });
    await git('init', '-q', '--bare', '--object-format=sha256', '-b', 'main');
    const tree = await git('hash-object', '-t', 'tree', '-w', '/dev/null');
    await git('update-ref', 'refs/heads/main', await git('commit-tree', tree, '-m', 'First'));
    for (const ref of [null, 'main'])
      await expect(test.workspaces.resolve({ ...access(cwd), ref })).rejects.toMatchObject({
        kind: 'not-found',
        message: expect.stringContaining('SHA-256'),
      });
  });

  it('does not return a commit that no branch or tag contains', async () => {
    await using repository = await createTestRepository();
    await using test = await createTestWorkspaces();
    const tree = await repository.git('rev-parse', 'main^{tree}');
    const stray = await repository.git('commit-tree', tree, '-m', 'Stray');
    await expect(test.workspaces.resolve({ ...access(repository.path), ref: stray })).rejects.toMatchObject({
      kind: 'ref-not-found',
    });
  });

  it('reports that an empty repository has no commits, and that a missing one does not exist', async () => {
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
  it('is read from git, only if it is a regular file, and up to a limit', async () => {
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

  it('is the first regular one of several paths, which one command looks up', async () => {
    await using repository = await createTestRepository({
      'AGENTS.md': 'rules',
      'docs/a.md': 'a',
      link: { link: 'AGENTS.md' },
    });
    await using test = await createTestWorkspaces();
    const commit = await repository.git('rev-parse', 'main');
    const links: string[] = [];
    const read = async (...paths: string[]) => {
      const at = { ...access(repository.path), commit, paths, maxBytes: 1000 };
      const found = await test.workspaces.readFirst({ ...at, onLink: (path) => void links.push(path) });
      return found && [found.path, found.content.toString()];
    };
    expect(await read('docs/a.md', 'link')).toEqual(['docs/a.md', 'a']);
    expect(links).toEqual([]);
    expect(await read('none', '../x', 'docs', 'link', 'docs/a.md', 'AGENTS.md')).toEqual(['docs/a.md', 'a']);
    expect(links).toEqual(['link']);
    test.calls.length = 0;
    expect(await read('none', 'link', 'docs/none')).toBeNull();
    expect(test.calls.map(({ args }) => args[0])).toEqual(['ls-tree']);
    expect(await read('..', '')).toBeNull();
  });

  it('is fetched if the copy of the repository does not have the commit yet', async () => {
    await using repository = await createTestRepository({ 'a.md': 'old' });
    await using test = await createTestWorkspaces();
    await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const commit = await repository.commit({ 'a.md': 'new' });
    const at = { ...access(repository.path), commit };
    expect((await test.workspaces.readFile({ ...at, path: 'a.md', maxBytes: 9 }))?.toString()).toBe('new');
    const listed = await test.workspaces.listFiles({ ...at, isWanted: () => true });
    expect(listed.map(({ path }) => path)).toEqual(['a.md']);
  });

  it('lists one folder without reading the others', async () => {
    const files = { 'a.md': 'a', 'docs/b.md': 'b', 'docs/deep/c.md': 'c', 'docs-old/d.md': 'd' };
    await using repository = await createTestRepository(files);
    await using test = await createTestWorkspaces();
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const at = { ...access(repository.path), commit, isWanted: () => true };
    const listed = await test.workspaces.listFiles({ ...at, folder: 'docs' });
    expect(listed.map(({ path }) => path)).toEqual(['docs/b.md', 'docs/deep/c.md']);
    expect(await test.workspaces.listFiles({ ...at, folder: 'none' })).toEqual([]);
  });

  it('reports a commit that the repository does not have', async () => {
    await using repository = await createTestRepository({ 'a.md': 'a' });
    await using test = await createTestWorkspaces();
    await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const at = { ...access(repository.path), commit: '1'.repeat(40) };
    await expect(test.workspaces.readFile({ ...at, path: 'a.md', maxBytes: 9 })).rejects.toMatchObject({
      kind: 'ref-not-found',
    });
  });
});
