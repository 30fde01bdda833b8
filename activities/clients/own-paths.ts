import type { Git } from './git.ts';
import type { JobDirectory } from './job-directory.ts';

/**
 * The paths at which a tree differs from every one of `from`: the base alone before anything was published, and the branch as
 * well afterwards, so that what people added to it is not taken for the job's.
 */
export async function ownPaths(
  git: Git,
  { job, from, tree, signal }: { job: JobDirectory; from: string[]; tree: string; signal: AbortSignal },
): Promise<string[]> {
  let own: Set<string> | null = null;
  for (const earlier of from) {
    const args = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--no-ext-diff', earlier, tree];
    const { stdout } = await git.run({ gitDir: job.gitDir, args, signal });
    const paths: string[] = stdout.toString().split('\0').filter(Boolean);
    own = own === null ? new Set(paths) : own.intersection(new Set(paths));
  }
  return [...(own ?? [])];
}
