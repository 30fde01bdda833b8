import type { Git } from '../git/git.ts';
import type { JobDirectory } from './job-directory.ts';

/**
 * The paths at which a tree differs from every one of `from`: the base before anything was published; the branch while it goes
 * on, as what people added is not the job's and taking that back is; both where the base is another one by now.
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
