import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { processHost } from './git.ts';
import { removeDirectory, temporaryDirectory } from './temporary-directory.ts';

/** A file by its text or bytes; `{ link }` a symlink, `{ executable }` a file with the bit; null deletes. */
export type TestFile = string | Uint8Array | { link: string } | { executable: string } | null;
export type TestFiles = Record<string, TestFile>;

export interface TestRepository {
  /** The bare repository. */
  path: string;
  /** Commits changes on top of a branch, which is created if necessary, and returns the commit. */
  commit(files: TestFiles, options?: { branch?: string; message?: string }): Promise<string>;
  /** Runs git in the bare repository and returns its output without the last line break. */
  git(...args: string[]): Promise<string>;
  /** Creates a tree from lines of `git ls-tree`, whether or not their objects exist. */
  makeTree(listing: string): Promise<string>;
  /** Returns the mode and content of a commit's files by path. */
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

/** Runs git outside of the code under test, without the machine's configuration. */
export async function runTestGit(
  args: readonly string[],
  { cwd, env, stdin = null }: { cwd: string; env?: Record<string, string>; stdin?: Uint8Array | null },
): Promise<string> {
  const limits = { maxFileBytes: null, maxMemoryBytes: null, maxOutputBytes: 1 << 28, timeoutMs: 120_000 };
  const { signal } = new AbortController();
  const own = { ...environment, HOME: cwd, ...env };
  const call = { file: 'git', args, cwd, env: own, stdin, secretInput: null, signal, ...limits };
  const { exitCode, stdout, stderr } = await processHost.run(call);
  if (exitCode === 0) return stdout.toString().replace(/\n$/, '');
  throw new Error(`git ${args.join(' ')}: ${stderr}`);
}

/** Returns a value in the format of `git fast-import`. */
function dataOf(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n')]);
}

/** Returns a change for `git fast-import`, which creates a commit in one process and stores files byte by byte. */
function changeOf(name: string, file: TestFile): Buffer[] {
  const path = `"${name.replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
  if (file === null) return [Buffer.from(`D ${path}\n`)];
  const isText = typeof file === 'string' || file instanceof Uint8Array;
  const [mode, content] = isText
    ? ['100644', file]
    : 'link' in file
      ? ['120000', file.link]
      : ['100755', file.executable];
  return [Buffer.from(`M ${mode} inline ${path}\n`), dataOf(content)];
}

/** Creates a bare repository with one commit on `main`; without files it stays empty. */
export async function createTestRepository(
  files: TestFiles | null = { 'README.md': '# Lamp\n' },
  { path }: { path?: string } = {},
): Promise<TestRepository> {
  const home = temporaryDirectory();
  const bare = path ?? join(home, 'repository.git');
  await mkdir(bare, { recursive: true });
  const git = (...args: string[]) => runTestGit(['--git-dir', bare, ...args], { cwd: home });
  await runTestGit(['init', '--quiet', '--bare', '--template=', '--initial-branch=main', bare], { cwd: home });

  async function commit(changes: TestFiles, { branch = 'main', message = 'Change' } = {}): Promise<string> {
    const parent = await git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`).catch(() => null);
    const person = 'Test <test@example.com> 1767225600 +0000';
    const stdin = Buffer.concat([
      Buffer.from(`commit refs/heads/${branch}\nmark :1\nauthor ${person}\ncommitter ${person}\n`),
      dataOf(`${message}\n`),
      Buffer.from(parent === null ? '' : `from ${parent}\n`),
      ...Object.entries(changes).flatMap(([name, file]) => changeOf(name, file)),
      Buffer.from('\nget-mark :1\n'),
    ]);
    return runTestGit(['--git-dir', bare, 'fast-import', '--quiet'], { cwd: home, stdin });
  }

  const makeTree = (listing: string) =>
    runTestGit(['--git-dir', bare, 'mktree', '--missing'], { cwd: home, stdin: Buffer.from(listing) });

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

  const remove = () => removeDirectory(home);
  try {
    if (files !== null) await commit(files, { message: 'Begin' });
  } catch (error) {
    await remove();
    throw error;
  }
  return { path: bare, commit, git, makeTree, read, [Symbol.asyncDispose]: remove };
}
