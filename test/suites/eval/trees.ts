import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from '../../../cli/command-error.ts';
import { compileGlob } from '../../../lib/inputs/glob.ts';
import { runTestGit } from '../../support/git-repository.ts';
import type { Edit } from './tasks.ts';

/**
 * Trees of a bare repository. What an agent wrote is read and combined as git objects, never through a file system in
 * which it may have placed links.
 */
export type Trees = ReturnType<typeof createTrees>;

/** Git reaches servers through the proxy of this environment. */
const proxy = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value]) =>
    /^(?:https?|no)_proxy$|^SSL_CERT_FILE$/i.test(name) && value !== undefined ? [[name, value]] : [],
  ),
);

export function createTrees(repository: string) {
  const run = (
    args: string[],
    { stdin = '', env = {}, cwd = tmpdir() }: { stdin?: string; env?: Record<string, string>; cwd?: string } = {},
  ) =>
    runTestGit(['--git-dir', repository, ...args], {
      cwd,
      env: { ...proxy, ...env },
      stdin: Buffer.from(stdin),
    });
  const git = (...args: string[]) => run(args);

  /** Returns lines of `git ls-tree` without the type. */
  async function list(tree: string, paths: string[] = []): Promise<{ mode: string; object: string; path: string }[]> {
    const listing = await git('ls-tree', '-r', '-z', tree, '--', ...paths);
    return listing
      .split('\0')
      .filter(Boolean)
      .map((line) => {
        const [meta = '', path = ''] = line.split('\t');
        const [mode = '', , object = ''] = meta.split(' ');
        return { mode, object, path };
      });
  }

  async function textAt(tree: string, path: string): Promise<string> {
    // the batch ends with a line break of its own, which is the one that is cut
    const answer = await run(['cat-file', '--batch'], { stdin: `${tree}:${path}\n` });
    const end = answer.indexOf('\n');
    if (end < 0) throw new CommandError(`There is no file ${path}.`);
    return answer.slice(end + 1);
  }

  async function withIndex<T>(tree: string, work: (env: Record<string, string>) => Promise<T>): Promise<T> {
    const folder = await mkdtemp(join(tmpdir(), 'docket-eval-index-'));
    try {
      const env = { GIT_INDEX_FILE: join(folder, 'index') };
      await run(['read-tree', tree], { env });
      return await work(env);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Returns a tree with entries added or replaced; an entry with an empty object is removed. */
  function withEntries(tree: string, entries: { mode: string; object: string; path: string }[]): Promise<string> {
    return withIndex(tree, async (env) => {
      const lines = entries.map(({ mode, object, path }) =>
        object === '' ? `0 ${'0'.repeat(40)}\t${path}` : `${mode} ${object}\t${path}`,
      );
      await run(['update-index', '--add', '--replace', '-z', '--index-info'], {
        env,
        stdin: lines.map((line) => `${line}\0`).join(''),
      });
      return run(['write-tree'], { env });
    });
  }

  async function withFiles(tree: string, files: Record<string, string>): Promise<string> {
    const present = new Map((await list(tree)).map((entry) => [entry.path, entry.mode]));
    const entries = [];
    for (const [path, text] of Object.entries(files)) {
      const object = await run(['hash-object', '-w', '--stdin'], { stdin: text });
      entries.push({ mode: present.get(path) ?? '100644', object, path });
    }
    return withEntries(tree, entries);
  }

  async function withEdit(tree: string, edit: Edit): Promise<string> {
    if ('text' in edit) return withFiles(tree, { [edit.path]: edit.text });
    if ('find' in edit) return withFiles(tree, await replaced(tree, edit));
    const found = await list(tree, [edit.path]);
    if (found.length === 0) throw new CommandError(`There is no ${edit.path}.`);
    const gone = found.map((entry) => ({ ...entry, object: '' }));
    const moved =
      'to' in edit ? found.map((one) => ({ ...one, path: edit.to + one.path.slice(edit.path.length) })) : [];
    return withEntries(tree, [...gone, ...moved]);
  }

  async function replaced(tree: string, { path, find, replace, every }: Extract<Edit, { find: string }>) {
    const isWanted = every ? compileGlob(path) : (name: string) => name === path;
    const listing = await git('grep', '-l', '-z', '-I', '-F', '-e', find.split('\n')[0] || '', tree).catch(() => '');
    const names = listing.split('\0').flatMap((line) => line.slice(tree.length + 1) || []);
    const files: Record<string, string> = {};
    for (const name of names.filter(isWanted)) {
      const parts = (await textAt(tree, name)).split(find);
      if (!every && parts.length > 2) throw new CommandError(`${path} has ${JSON.stringify(find)} more than once.`);
      if (parts.length > 1) files[name] = parts.join(replace);
    }
    if (Object.keys(files).length > 0) return files;
    throw new CommandError(`${path} does not have ${JSON.stringify(find)}.`);
  }

  return {
    git,
    list,
    withEntries,
    withFiles,
    async withEdits(tree: string, edits: Edit[]): Promise<string> {
      let made = tree;
      for (const edit of edits) made = await withEdit(made, edit);
      return made;
    },
    /** Writes the files of a tree into a new folder. */
    async checkOut(tree: string, folder: string): Promise<void> {
      await mkdir(folder);
      await withIndex(tree, (env) =>
        run(['checkout-index', '--all'], { env: { ...env, GIT_WORK_TREE: folder }, cwd: folder }),
      );
    },
  };
}
