import { findFilesAt } from './find-files-at.ts';
import type { Git } from './git.ts';
import { GitError } from './git-error.ts';
import type { Mirrors } from '../workspaces/mirrors.ts';
import { readFileAt } from './read-file-at.ts';
import type { RepositoryAccess } from './remote.ts';
import { folderRevision, readGitFolder, type FolderFile, type IsKnownFile } from '../workspaces/source-folder.ts';

/** Reads commits of repositories without a working copy. Errors: GitError. */
export interface CommitReader {
  /** A regular file as a commit has it, at most `maxBytes` of it; null when the commit has no such file. */
  readFile(access: RepositoryAccess & { commit: string; path: string; maxBytes: number }): Promise<Buffer | null>;
  /** Paths of the files with a name, in any folder of a commit. */
  findFiles(access: RepositoryAccess & { commit: string; name: string }): Promise<string[]>;
  /** A folder as a commit has it: git's id of its content (null: no such folder), and its text files, the unknown ones read. */
  readFolder(
    access: RepositoryAccess & { commit: string; path: string },
  ): Promise<{ revision: string | null; read(isKnown: IsKnownFile): Promise<FolderFile[]> }>;
}

export function createCommitReader({ git, mirrors }: { git: Git; mirrors: Mirrors }): CommitReader {
  async function mirrorWith({ commit, ...access }: RepositoryAccess & { commit: string }): Promise<string> {
    await mirrors.ensureCommit(access, commit);
    return mirrors.directoryOf(access);
  }

  return {
    async readFile({ path, maxBytes, ...at }) {
      const { commit, signal } = at;
      return readFileAt(git, { gitDir: await mirrorWith(at), commit, path, maxBytes, signal });
    },

    async findFiles({ name, ...at }) {
      const { commit, signal } = at;
      return findFilesAt(git, { gitDir: await mirrorWith(at), commit, name, signal });
    },

    async readFolder({ path, ...at }) {
      const { commit, signal } = at;
      const gitDir = await mirrorWith(at);
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
      return { revision, read };
    },
  };
}
