import { execFileSync } from 'node:child_process';
import { chmod, mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { setTimeout as nextLook } from 'node:timers/promises';
import type { Git } from '../../../activities/git/git.ts';
import { readDirectory, readGitFolder, SourceFolderError } from '../../../activities/workspaces/source-folder.ts';
import { watchEventLoop } from '../../../lib/threads/watch-event-loop.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const { signal } = new AbortController();

describe('readDirectory', () => {
  let folder: string;
  let root: string;
  beforeEach(async () => {
    folder = temporaryDirectory();
    root = join(folder, 'root');
    await mkdir(root);
  });

  async function write(files: Record<string, string>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(root, name, '..'), { recursive: true });
      await writeFile(join(root, name), text);
    }
  }

  async function read(directory = root): Promise<Record<string, string>> {
    const files = await readDirectory({ directory, root, signal });
    return Object.fromEntries(files.map(({ path, content }) => [path, Buffer.from(content ?? []).toString()]));
  }

  it('reads text files of all folders in a fixed order, and nothing else', async () => {
    await write({
      'z.md': 'z',
      'b/c/d.mdx': 'd',
      'a.markdown': 'é',
      'api.yaml': 'y',
      'docs.json': '{}',
      'logo.png': 'p',
    });
    await write({ '.git/config.md': 'no', 'node_modules/x/readme.md': 'no', 'sub/.git/x.md': 'no' });
    const found = await read();
    expect(Object.keys(found)).toEqual(['a.markdown', 'api.yaml', 'b/c/d.mdx', 'docs.json', 'z.md']);
    expect(found['a.markdown']).toBe('é');
  });

  it('names files that are too large, without their content', async () => {
    await write({ 'a.md': 'a' });
    await truncate(join(root, 'a.md'), 10 * 1024 * 1024 + 1);
    expect(await readDirectory({ directory: root, root, signal })).toEqual([
      { path: 'a.md', name: expect.any(String), content: null, isTooLarge: true },
    ]);
  });

  it('reads the catalogs of documentation', async () => {
    await write({ 'locale/de/LC_MESSAGES/guide/a.po': 'a', 'po/de.po': 'no' });
    expect(Object.keys(await read())).toEqual(['locale/de/LC_MESSAGES/guide/a.po']);
  });

  it('reads the programs that configure a documentation tool, and no others', async () => {
    const wanted = [
      'docs/.vitepress/config.mts',
      'docs/.vitepress/config/en.ts',
      'docs/.vitepress/sidebar.ts',
      'docs/conf.py',
      'docs/es/config.ts',
      'website/docs-sidebars.js',
      'website/docusaurus.config.ts',
      'website/sidebars.ts',
    ];
    const others = ['docs/.vitepress/theme/index.ts', 'src/config.tsx', 'src/Sidebar.tsx', 'website/setup.py'];
    await write(Object.fromEntries([...wanted, ...others].map((path) => [path, 'x'])));
    expect(Object.keys(await read())).toEqual(wanted);
  });

  it('follows no symbolic link, and does not wait for a pipe', async () => {
    await write({ 'a.md': 'a' });
    await writeFile(join(folder, 'secret.md'), 'secret');
    await symlink(join(folder, 'secret.md'), join(root, 'file.md'));
    await symlink(folder, join(root, 'folder.md'));
    await symlink(root, join(root, 'loop'));
    execFileSync('mkfifo', [join(root, 'pipe.md')]);
    expect(await read()).toEqual({ 'a.md': 'a' });
  });

  it('refuses more than it may keep in memory', async () => {
    await write(Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`${at}.md`, ''])));
    for (let at = 0; at < 51; at += 1) await truncate(join(root, `${at}.md`), 10 * 1024 * 1024);
    await expect(read()).rejects.toThrow(/larger than 500 MB in total/);
  });

  it('enters a directory that is a link to one below the root, and no other', async () => {
    await write({ 'real/a.md': 'a' });
    await symlink(join(root, 'real'), join(folder, 'inside'));
    expect(await read(join(folder, 'inside'))).toEqual({ 'a.md': 'a' });
    await expect(read(folder)).rejects.toThrow(/outside the worker's DOCKET_SITE_DIRECTORIES/);
    await expect(read(join(root, 'missing'))).rejects.toThrow(SourceFolderError);
    await expect(readDirectory({ directory: root, root: null, signal })).rejects.toThrow(/reads no directories/);
  });

  it.skipIf(process.getuid?.() === 0)('names a file that it may not read', async () => {
    await write({ 'guides/a.md': 'a' });
    await chmod(join(root, 'guides/a.md'), 0);
    await expect(read()).rejects.toThrow('The worker may not read guides/a.md.');
  });

  it('stops when it is aborted', async () => {
    await write({ 'a.md': 'a' });
    const aborted = AbortSignal.abort(new Error('stopped'));
    await expect(readDirectory({ directory: root, root, signal: aborted })).rejects.toThrow('stopped');
  });
});

describe('readGitFolder', () => {
  const object = 'a'.repeat(40);

  /** A git whose folder contains one page, and which returns its content through `answer`. */
  function gitAnswering(answer: string): Pick<Git, 'run'> {
    return {
      run({ args }) {
        const isListing = args[0] === 'ls-tree';
        const listing = `100644 blob ${object}       5\ta.md\x00120000 blob ${object}       5\tlink.md\0`;
        return Promise.resolve({
          stdout: Buffer.from(isListing ? listing : answer),
          stderr: '',
          truncated: false,
          exitCode: 0,
        });
      },
    };
  }

  const read = (answer: string, isKnown = () => false) =>
    readGitFolder(gitAnswering(answer), { gitDir: '/x', tree: 'b'.repeat(40), isKnown, signal });

  it('reads regular files', async () => {
    const [file, ...more] = await read(`${object} blob 5\nhello\n`);
    expect({ path: file?.path, text: Buffer.from(file!.content ?? []).toString(), more }).toEqual({
      path: 'a.md',
      text: 'hello',
      more: [],
    });
  });

  it('names files that are too large, without their content', async () => {
    const git = listing(Buffer.from(`100644 blob ${object} 10485761\tlarge.md\0`));
    const files = await readGitFolder(git, { gitDir: '/x', tree: 'b'.repeat(40), isKnown: () => false, signal });
    expect(files).toEqual([{ path: 'large.md', name: object, content: null, isTooLarge: true }]);
  });

  /** A git that returns this list of the folder. */
  const listing = (stdout: Buffer, truncated = false): Pick<Git, 'run'> => ({
    run: () => Promise.resolve({ stdout, stderr: '', truncated, exitCode: 0 }),
  });
  const readAll = (git: Pick<Git, 'run'>) =>
    readGitFolder(git, { gitDir: '/x', tree: 'b'.repeat(40), isKnown: () => true, signal });
  const listOf = (count: number, ending: string) => {
    const entry = `100644 blob ${object}       5\tfolder/100000${ending}\0`;
    return Buffer.alloc(count * entry.length, entry);
  };

  it('requests a list of bounded size from git, and refuses a folder whose list is longer', async () => {
    const asked: (number | undefined)[] = [];
    const git = listing(listOf(10, '.md'), true);
    const run: Git['run'] = (call) => {
      asked.push(call.maxOutputBytes);
      return git.run(call);
    };
    await expect(readAll({ ...git, run })).rejects.toThrow(
      'The folder contains too many files. Give the site a smaller folder.',
    );
    expect(asked).toEqual([32 * 1024 * 1024]);
  });

  it('refuses more pages than allowed, and parses a long list in slices that block the event loop only briefly', async () => {
    const blocks: number[] = [];
    using _ = watchEventLoop({ blockedMs: 120, onBlocked: ({ cpuMs }) => blocks.push(cpuMs) });
    await expect(readAll(listing(listOf(50_001, '.md')))).rejects.toThrow('more than 50000 pages');
    expect(await readAll(listing(listOf(400_000, '.c')))).toEqual([]);
    await nextLook(60);
    expect(blocks).toEqual([]);
  });

  it('reads many large pages in several calls', async () => {
    const size = 10 * 1024 * 1024;
    const content = Buffer.alloc(size, 'x');
    const list = Array.from({ length: 9 }, (_, at) => `100644 blob ${object} ${size}\t${at}.md\0`).join('');
    const outputs: number[] = [];
    const git: Pick<Git, 'run'> = {
      async run({ args, input }) {
        const blobs = String(input ?? '')
          .split('\n')
          .slice(0, -1);
        const answer = Buffer.concat(
          blobs.flatMap(() => [Buffer.from(`${object} blob ${size}\n`), content, Buffer.from('\n')]),
        );
        if (args[0] !== 'ls-tree') outputs.push(answer.length);
        return {
          stdout: args[0] === 'ls-tree' ? Buffer.from(list) : answer,
          stderr: '',
          truncated: false,
          exitCode: 0,
        };
      },
    };
    const files = await readGitFolder(git, { gitDir: '/x', tree: 'b'.repeat(40), isKnown: () => false, signal });
    expect(files.map(({ content }) => content?.length)).toEqual(Array.from({ length: 9 }, () => size));
    expect(outputs.length).toBe(3);
  });

  it('returns known files without reading them', async () => {
    expect(await read('nothing is asked', () => true)).toEqual([{ path: 'a.md', name: object, content: null }]);
  });

  it.each([`${object} missing\n`, `${object} blob 4\nhell\n`, `${'c'.repeat(40)} blob 5\nhello\n`, ''])(
    'recognizes %j as a damaged copy',
    async (answer) => {
      await expect(read(answer)).rejects.toMatchObject({ kind: 'corrupt' });
    },
  );
});
