import type { RepositoryAccess } from '../git/remote.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';

/** Returns the first bytes of a file of a commit, redacted; null when the commit has no such file. */
export async function readBeginning(
  { workspaces, maskSecrets }: { workspaces: Pick<Workspaces, 'readFile'>; maskSecrets(text: string): string },
  { access, commit, path, most }: { access: RepositoryAccess; commit: string; path: string; most: number },
): Promise<string | null> {
  const file = await workspaces.readFile({ ...access, commit, path, maxBytes: most + 1 });
  if (file === null) return null;
  if (file.length <= most) return maskSecrets(file.toString());
  const whole = file
    .subarray(0, most)
    .toString()
    .replace(/(?<!\uFFFD)\uFFFD+$/u, '');
  return `${maskSecrets(whole)}\n(The file is longer; the first ${most / 1024} KB of it count.)`;
}
