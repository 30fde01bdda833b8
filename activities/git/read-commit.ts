import type { Git } from './git.ts';
import { GitError } from './git-error.ts';
import type { Mirrors } from '../workspaces/mirrors.ts';
import type { RepositoryAccess } from './remote.ts';
import { createGitIncludes } from '../workspaces/included-files.ts';
import { folderRevision, readGitFolder, type FolderFile, type IsKnownFile } from '../workspaces/source-folder.ts';
import { listedEntries } from './listed-entries.ts';

/** Reads commits of repositories without a working copy. Errors: GitError. */
export interface CommitReader {
  /** Reads at most `maxBytes` of a regular file; null when the commit has no such file. */
  readFile(access: RepositoryAccess & { commit: string; path: string; maxBytes: number }): Promise<Buffer | null>;
  /**
   * Does the same for the first of several paths at which the commit has a regular file. Calls `onLink` for each path
   * before it that is a symbolic link.
   */
  readFirst(
    access: RepositoryAccess & {
      commit: string;
      paths: readonly string[];
      maxBytes: number;
      onLink?(path: string): void;
    },
  ): Promise<{ path: string; content: Buffer } | null>;
  /** Returns the paths of the files with one of these names, in any folder. */
  findFiles(access: RepositoryAccess & { commit: string; names: readonly string[] }): Promise<string[]>;
  /** Returns the files whose path is wanted, by default in all folders, with the ids of their contents. */
  listFiles(
    access: RepositoryAccess & { commit: string; folder?: string; isWanted(path: string): boolean },
  ): Promise<{ path: string; object: string }[]>;
  /** Returns the branches that the mirror had after its last fetch, those with the newest commits first. */
  listBranches(access: RepositoryAccess & { max: number }): Promise<string[]>;
  /**
   * Returns a folder's tree id, null when it does not exist, a reader for those text files that are not known, and one for
   * files that these include.
   */
  readFolder(access: RepositoryAccess & { commit: string; path: string }): Promise<{
    revision: string | null;
    read(isKnown: IsKnownFile): Promise<FolderFile[]>;
    readIncluded(paths: readonly string[]): Promise<FolderFile[]>;
  }>;
}

export function createCommitReader({ git, mirrors }: { git: Git; mirrors: Mirrors }): CommitReader {
  const readFirst: CommitReader['readFirst'] = async ({ paths, maxBytes, onLink, ...at }) => {
    const plain = paths.filter((path) => path.split('/').every((part) => !['', '.', '..'].includes(part)));
    // without a path, git lists everything
    if (plain.length === 0) return null;
    const { commit, signal } = at;
    return mirrors.reading(at, commit, async (gitDir) => {
      const listed = await git.run({ gitDir, args: ['ls-tree', '-z', '--full-tree', commit, '--', ...plain], signal });
      const entries = new Map<string, { mode: string; object: string }>();
      for (const entry of listed.stdout.toString().split('\0')) {
        const [, mode, object, path] = /^(100644|100755|120000) blob ([0-9a-f]{40})\t(.+)$/s.exec(entry) ?? [];
        if (mode !== undefined && object !== undefined && path !== undefined) entries.set(path, { mode, object });
      }
      for (const path of plain) {
        const entry = entries.get(path);
        if (entry?.mode === '120000') onLink?.(path);
        if (entry === undefined || entry.mode === '120000') continue;
        const args = ['cat-file', 'blob', entry.object];
        const { stdout } = await git.run({ gitDir, args, maxOutputBytes: maxBytes, signal });
        return { path, content: stdout };
      }
      return null;
    });
  };

  return {
    readFirst,

    async readFile({ path, ...at }) {
      return (await readFirst({ ...at, paths: [path] }))?.content ?? null;
    },

    async listFiles({ folder, isWanted, ...at }) {
      const { commit, signal } = at;
      return mirrors.reading(at, commit, (gitDir) => listFilesAt(git, { gitDir, commit, folder, isWanted, signal }));
    },

    async listBranches({ max, ...access }) {
      const args = ['for-each-ref', '--sort=-committerdate', `--count=${max}`, '--format=%(refname:lstrip=2)'];
      const { stdout } = await git.run({
        gitDir: await mirrors.ensure(access),
        args: [...args, 'refs/heads'],
        signal: access.signal,
      });
      return stdout.toString().split('\n').filter(Boolean);
    },

    async findFiles({ names, ...at }) {
      const { commit, signal } = at;
      return mirrors.reading(at, commit, (gitDir) => findFilesAt(git, { gitDir, commit, names, signal }));
    },

    async readFolder({ path, ...at }) {
      const { commit, signal } = at;
      await mirrors.ensureCommit(at, commit);
      const gitDir = mirrors.directoryOf(at);
      const revision = await folderRevision(git, { gitDir, commit, path, signal });
      const read = async (isKnown: IsKnownFile) => {
        if (revision === null) return [];
        try {
          return await readGitFolder(git, { gitDir, tree: revision, isKnown, signal });
        } catch (error) {
          if (error instanceof GitError && error.kind === 'corrupt') await mirrors.suspect(at);
          throw error;
        }
      };
      return { revision, read, readIncluded: createGitIncludes(git, { gitDir, commit, folder: path, signal }) };
    },
  };
}

interface ListRequest {
  gitDir: string;
  commit: string;
  folder?: string;
  isWanted(path: string): boolean;
  signal: AbortSignal;
}

const maxListing = 64 * 1024 * 1024;

/** Finds the regular files with one of these names in all folders of a commit. Searches only the first 64 MB of the listing. */
export async function findFilesAt(
  git: Git,
  { names, ...at }: Omit<ListRequest, 'isWanted'> & { names: readonly string[] },
): Promise<string[]> {
  const isWanted = (path: string) => names.includes(path.slice(path.lastIndexOf('/') + 1));
  return (await listFilesAt(git, { ...at, isWanted })).map(({ path }) => path);
}

async function listFilesAt(
  git: Git,
  { gitDir, commit, folder, isWanted, signal }: ListRequest,
): Promise<{ path: string; object: string }[]> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', commit, ...(folder === undefined ? [] : ['--', `${folder}/`])];
  const { stdout } = await git.run({ gitDir, args, maxOutputBytes: maxListing, signal });
  const files: { path: string; object: string }[] = [];
  for await (const entries of listedEntries(stdout, signal)) {
    for (const entry of entries) {
      const [, object] = /^100(?:644|755) blob ([\da-f]+)\t/.exec(entry) ?? [];
      if (object === undefined) continue;
      const path = entry.slice(entry.indexOf('\t') + 1);
      if (isWanted(path)) files.push({ path, object });
    }
  }
  return files;
}
