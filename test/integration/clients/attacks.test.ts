import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTestRepository, runTestGit, type TestFiles } from '../../support/git-repository.ts';
import { digDown, hostileConfig, addHostileHooks, addHostileRepository } from './hostile-files.ts';
import { access, changeTree, createTestWorkspaces } from './setup.ts';

interface Scene {
  /** A path that must not exist afterwards: every hostile command would create it. */
  mark: string;
  /** Takes the job from checkout through `tamper` to the pushed branch, with a second batch in between. */
  play(tamper: (tree: string) => Promise<void>): Promise<Record<string, string>>;
}

async function withScene(files: (mark: string) => TestFiles, act: (scene: Scene) => Promise<void>): Promise<void> {
  await using test = await createTestWorkspaces();
  const mark = join(test.directory, 'executed');
  await using repository = await createTestRepository(files(mark));
  const { workspaces } = test;
  const play: Scene['play'] = async (tamper) => {
    const { commit } = await workspaces.resolve({ ...access(repository.path), ref: null });
    const job = { repository: repository.path, jobId: 'job', commit };
    const first = await changeTree(workspaces, job, async (path) => {
      await tamper(path);
      await writeFile(join(path, 'edit.txt'), 'one\n');
    });
    const second = await changeTree(workspaces, { ...job, from: first.snapshot }, async (path) => {
      await tamper(path);
      await writeFile(join(path, 'edit.txt'), 'two\n');
    });
    await workspaces.publish({
      ...access(repository.path),
      jobId: 'job',
      branch: 'docket/job',
      baseCommit: commit,
      snapshot: second.snapshot!,
      message: 'Edit\n\nAgent-Job: job\n',
      author: { name: 'Docket', email: 'docket@example.com', date: new Date(0) },
      published: null,
      beforePush: async () => {},
    });
    return await repository.read('docket/job');
  };
  await act({ mark, play });
  expect(existsSync(mark), 'a hostile command ran').toBe(false);
}

describe('hostile content of a repository', () => {
  it.each(['.git', '.GIT', '.git ', 'git~1', '.g\u200cit', 'sub/.git', 'sub/deep/.Git', 'src/.git'])(
    'does not remove, execute or commit a hostile repository at %j',
    async (place) => {
      await withScene(
        () => ({ 'README.md': 'x', 'src/a.txt': 'a' }),
        async ({ mark, play }) => {
          const published = await play((tree) => addHostileRepository(join(tree, place), mark));
          expect(Object.keys(published).toSorted()).toEqual(['README.md', 'edit.txt', 'src/a.txt']);
        },
      );
    },
  );

  it('leaves out files and links whose names git refuses, and keeps the rest', async () => {
    await withScene(
      () => ({ 'README.md': 'x' }),
      async ({ play }) => {
        const published = await play(async (tree) => {
          for (const name of ['a\\.git', 'a\\GIT~1', 'a\\b']) await writeFile(join(tree, name), 'x');
          for (const name of ['~1000000', 'gi7eb~12', 'a\\.gitmodules', '~1']) {
            await rm(join(tree, name), { force: true });
            await symlink('README.md', join(tree, name));
          }
        });
        expect(Object.keys(published).toSorted()).toEqual(['README.md', 'a\\b', 'edit.txt', '~1']);
      },
    );
  });

  it('leaves out folders deeper than the longest path, wherever they are', { tags: 'slow' }, async () => {
    await withScene(
      () => ({ 'README.md': 'x' }),
      async ({ play }) => {
        const published = await play(async (tree) => {
          await digDown(tree, 2_500);
          await mkdir(join(tree, '.git'), { recursive: true });
          await digDown(join(tree, '.git'), 2_500);
        });
        expect(Object.keys(published).toSorted()).toEqual(['README.md', 'edit.txt']);
      },
    );
  });

  it('commits the files of a real repository inside the tree, but no link to it', async () => {
    await withScene(
      () => ({ 'README.md': 'x' }),
      async ({ play }) => {
        const published = await play(async (tree) => {
          const inner = join(tree, 'vendor');
          await rm(inner, { recursive: true, force: true });
          await mkdir(inner);
          await writeFile(join(inner, 'a.txt'), 'inner');
          await runTestGit(['init', '--quiet', '.'], { cwd: inner });
          await runTestGit(['add', '.'], { cwd: inner });
          await runTestGit(['commit', '--quiet', '-m', 'x'], { cwd: inner });
        });
        expect(published).toEqual({
          'README.md': '100644 x',
          'edit.txt': '100644 two',
          'vendor/a.txt': '100644 inner',
        });
      },
    );
  });

  it('keeps an embedded bare repository as files and ignores its configuration', async () => {
    await withScene(
      () => ({ 'README.md': 'x' }),
      async ({ mark, play }) => {
        const published = await play((tree) => addHostileRepository(join(tree, 'bare'), mark));
        expect(Object.keys(published)).toContain('bare/config');
      },
    );
  });

  it('runs no filter, textconv or merge driver named by attributes and configuration in the tree', async () => {
    const attributes =
      '*.txt filter=evil diff=evil merge=evil text eol=crlf ident\n*.u16 text working-tree-encoding=UTF-16LE\n';
    await withScene(
      (mark) => ({
        '.gitattributes': attributes,
        '.gitconfig': hostileConfig(mark),
        config: hostileConfig(mark),
        'a.txt': 'a\n',
        'a.u16': 'ä\n',
      }),
      async ({ play }) => {
        const published = await play(async (tree) => {
          expect(await readFile(join(tree, 'a.u16'), 'utf8')).toBe('ä\n');
          expect(await readFile(join(tree, 'a.txt'), 'utf8')).toMatch(/^(a\n|b\r\n\$Id\$\n)$/);
          await writeFile(join(tree, 'a.txt'), 'b\r\n$Id$\n');
        });
        expect(published).toMatchObject({ 'a.txt': '100644 b\r\n$Id$', 'a.u16': '100644 ä' });
      },
    );
  });

  it('leaves an LFS pointer as text', async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1';
    await withScene(
      () => ({ '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'a.bin': `${pointer}\n` }),
      async ({ play }) => {
        const published = await play(async (tree) => {
          expect(await readFile(join(tree, 'a.bin'), 'utf8')).toBe(`${pointer}\n`);
        });
        expect(published['a.bin']).toBe(`100644 ${pointer}`);
      },
    );
  });

  it('keeps symlinks as symlinks and writes through none of them', async () => {
    await withScene(
      () => ({ 'README.md': 'x', 'dir/file.txt': 'file', passwd: { link: '/etc/passwd' } }),
      async ({ mark, play }) => {
        const outside = `${mark}-outside`;
        await mkdir(outside, { recursive: true });
        const published = await play(async (tree) => {
          expect((await lstat(join(tree, 'passwd'))).isSymbolicLink()).toBe(true);
          await rm(join(tree, 'dir'), { recursive: true, force: true });
          await symlink(outside, join(tree, 'dir'));
        });
        expect(published).toMatchObject({ passwd: '120000 /etc/passwd', dir: `120000 ${outside}` });
        expect(existsSync(join(outside, 'file.txt'))).toBe(false);
      },
    );
  });

  it('restores a directory that was replaced by a symlink, without touching the link’s target', async () => {
    await using test = await createTestWorkspaces();
    await using repository = await createTestRepository({ 'dir/file.txt': 'file', 'dir/other.txt': 'o' });
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const open = () =>
      test.workspaces.open({ ...access(repository.path), jobId: 'job', baseCommit: commit, snapshot: null });
    const outside = join(test.directory, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'file.txt'), 'theirs');
    const first = await open();
    await rm(join(first.path, 'dir'), { recursive: true });
    await symlink(outside, join(first.path, 'dir'));
    await first.release();
    const second = await open();
    expect((await lstat(join(second.path, 'dir'))).isDirectory()).toBe(true);
    expect(await readFile(join(second.path, 'dir/file.txt'), 'utf8')).toBe('file');
    expect(await readFile(join(outside, 'file.txt'), 'utf8')).toBe('theirs');
    await second.release();
  });

  it('commits no pipe, and no link named .gitmodules', async () => {
    await withScene(
      () => ({ 'README.md': 'x', 'tracked.txt': 't' }),
      async ({ play }) => {
        const published = await play(async (tree) => {
          for (const name of ['pipe', 'tracked.txt', '.gitmodules']) await rm(join(tree, name), { force: true });
          execFileSync('mkfifo', [join(tree, 'pipe'), join(tree, 'tracked.txt')]);
          await symlink('/etc/passwd', join(tree, '.gitmodules'));
        });
        expect(Object.keys(published).toSorted()).toEqual(['README.md', 'edit.txt']);
      },
    );
  });

  it('neither fetches nor loses a submodule', async () => {
    await using test = await createTestWorkspaces();
    const mark = join(test.directory, 'executed');
    await using repository = await createTestRepository({
      '.gitmodules': `[submodule "../x"]\n  path = sub\n  url = ext::touch ${mark}\n  update = !touch ${mark}\n`,
    });
    const parent = await repository.git('rev-parse', 'main');
    const listing = `${await repository.git('ls-tree', 'main')}\n160000 commit ${parent}\tsub\n`;
    const tree = await repository.makeTree(listing);
    const base = await repository.git('commit-tree', tree, '-p', parent, '-m', 'Submodule');
    await repository.git('update-ref', 'refs/heads/main', base);
    const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
    const { snapshot } = await changeTree(
      test.workspaces,
      { repository: repository.path, jobId: 'job', commit },
      (path) => writeFile(join(path, 'edit.txt'), 'x'),
    );
    expect(snapshot?.patch).not.toContain('Subproject');
    expect(snapshot?.changedFiles).toBe(1);
    expect(existsSync(mark)).toBe(false);
  });

  it('ignores hooks and commands in the configuration of a repository on this machine', async () => {
    await withScene(
      () => ({ 'README.md': 'x' }),
      async ({ mark }) => {
        await using test = await createTestWorkspaces();
        await using repository = await createTestRepository();
        await addHostileHooks(repository.path, mark);
        const { commit } = await test.workspaces.resolve({ ...access(repository.path), ref: null });
        const job = { repository: repository.path, jobId: 'job', commit };
        const { snapshot } = await changeTree(test.workspaces, job, (path) => writeFile(join(path, 'a'), 'a'));
        await test.workspaces.publish({
          ...access(repository.path),
          jobId: 'job',
          branch: 'docket/job',
          baseCommit: commit,
          snapshot: snapshot!,
          message: 'x',
          author: { name: 'a', email: 'b', date: new Date(0) },
          published: null,
          beforePush: async () => {},
        });
      },
    );
  });
});
