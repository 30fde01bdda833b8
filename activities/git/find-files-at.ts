import type { Git } from './git.ts';

interface FindRequest {
  gitDir: string;
  commit: string;
  /** Of the files themselves, without a folder. */
  name: string;
  signal: AbortSignal;
}

const maxListing = 64 * 1024 * 1024;

/** Finds the regular files with a name in all folders of a commit; of a listing of more than 64 MB only the beginning counts. */
export async function findFilesAt(git: Git, { gitDir, commit, name, signal }: FindRequest): Promise<string[]> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', commit];
  const { stdout } = await git.run({ gitDir, args, maxOutputBytes: maxListing, signal });
  const paths = stdout
    .toString()
    .split('\0')
    .filter((entry) => /^100(?:644|755) blob /.test(entry))
    .map((entry) => entry.slice(entry.indexOf('\t') + 1));
  return paths.filter((path) => path === name || path.endsWith(`/${name}`));
}
