import type { Git } from '../git/git.ts';
import type { JobDirectory } from './job-directory.ts';

/**
 * Returns the paths at which a tree differs from every tree in `from`. Pass the base before anything has been
 * published. Pass the published tree while the job continues on the same branch: what people added there is not the
 * job's change, but reverting it is. Pass both if the base has changed since.
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
