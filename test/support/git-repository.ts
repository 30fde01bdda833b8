import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A file by its text or bytes; `{ link }` a symlink, `{ executable }` a file with the bit; null deletes. */
export type TestFile = string | Uint8Array | { link: string } | { executable: string } | null;
export type TestFiles = Record<string, TestFile>;

export interface TestRepository {
  /** The bare repository. */
  path: string;
  /** Commits changes on top of a branch (made when it is new) and answers the commit. */
  commit(files: TestFiles, options?: { branch?: string; message?: string }): Promise<string>;
  /** Runs git in the bare repository and answers its output without the last line break. */
  git(...args: string[]): Promise<string>;
  /** Makes a tree from lines of `git ls-tree`, whether or not their objects exist. */
  makeTree(listing: string): Promise<string>;
  /** What a commit holds: mode and content by path. */
  read(commit: string): Promise<Record<string, string>>;
  [Symbol.asyncDispose](): Promise<void>;
}

const environment = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};

/** Runs git outside of the code under test, with nothing of the machine's configuration. */
export function runTestGit(
  args: readonly string[],
  options: { cwd: string; env?: Record<string, string> },
): Promise<string> {
  const env = { ...environment, HOME: options.cwd, ...options.env };
  return new Promise((resolve, reject) => {
    execFile('git', args, { cwd: options.cwd, env, maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.replace(/\n$/, ''));
      else reject(new Error(`git ${args.join(' ')}: ${stderr}`, { cause: error }));
    });
  });
}

/** Writes files below a directory as they are described. */
export async function writeTestFiles(directory: string, files: TestFiles): Promise<void> {
  for (const [name, file] of Object.entries(files)) {
    const path = join(directory, name);
    await rm(path, { recursive: true, force: true });
    if (file === null) continue;
    await mkdir(dirname(path), { recursive: true });
    if (typeof file === 'string' || file instanceof Uint8Array) await writeFile(path, file);
    else if ('link' in file) await symlink(file.link, path);
    else {
      await writeFile(path, file.executable);
      await chmod(path, 0o755);
    }
  }
}

/** Makes a bare repository with one commit on `main`; without files it stays empty. */
export async function createTestRepository(
  files: TestFiles | null = { 'README.md': '# Lamp\n' },
  { path }: { path?: string } = {},
): Promise<TestRepository> {
  const home = await mkdtemp(join(tmpdir(), 'docket-repository-'));
  const bare = path ?? join(home, 'repository.git');
  await mkdir(bare, { recursive: true });
  const git = (...args: string[]) => runTestGit(['--git-dir', bare, ...args], { cwd: home });
  await runTestGit(['init', '--quiet', '--bare', '--template=', '--initial-branch=main', bare], { cwd: home });
  await mkdir(join(bare, 'info'), { recursive: true });
  // Test files are stored byte by byte, whatever attributes they bring along
  await writeFile(join(bare, 'info/attributes'), '* -text !eol !filter !ident !working-tree-encoding\n');

  async function commit(changes: TestFiles, { branch = 'main', message = 'Change' } = {}): Promise<string> {
    const tree = await mkdtemp(join(home, 'tree-'));
    const work = (...args: string[]) =>
      runTestGit(['--git-dir', bare, '--work-tree', tree, ...args], {
        cwd: tree,
        env: { GIT_INDEX_FILE: `${tree}.index` },
      });
    const parent = await git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`).catch(() => null);
    if (parent !== null) await work('read-tree', '-u', '--reset', parent);
    await writeTestFiles(tree, changes);
    await work('add', '--all', '--force', '.');
    const id = await work('write-tree');
    const made = await git('commit-tree', id, ...(parent === null ? [] : ['-p', parent]), '-m', message);
    await git('update-ref', `refs/heads/${branch}`, made);
    await rm(tree, { recursive: true, force: true });
    return made;
  }

  async function makeTree(listing: string): Promise<string> {
    const list = join(home, `listing-${randomUUID()}`);
    await writeFile(list, listing);
    const script = 'exec git --git-dir "$1" mktree --missing < "$2"';
    return new Promise((resolve, reject) => {
      execFile('/bin/sh', ['-c', script, 'sh', bare, list], { cwd: home, env: environment }, (error, stdout) =>
        error === null ? resolve(stdout.trim()) : reject(error),
      );
    });
  }

  async function read(commit: string): Promise<Record<string, string>> {
    const listing = await git('ls-tree', '-r', '-z', commit);
    const content: Record<string, string> = {};
    for (const entry of listing.split('\0').filter(Boolean)) {
      const [meta = '', name = ''] = entry.split('\t');
      const [mode, type, object = ''] = meta.split(' ');
      content[name] = `${mode} ${type === 'blob' ? await git('cat-file', 'blob', object) : object}`;
    }
    return content;
  }

  const remove = () => rm(home, { recursive: true, force: true });
  try {
    if (files !== null) await commit(files, { message: 'Begin' });
  } catch (error) {
    await remove();
    throw error;
  }
  return { path: bare, commit, git, makeTree, read, [Symbol.asyncDispose]: remove };
}
