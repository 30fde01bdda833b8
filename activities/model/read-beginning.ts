import type { RepositoryAccess } from '../git/remote.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';

/** Returns the first bytes of a file of a commit, redacted; null when the commit has no such file. */
export async function readBeginning(
  { workspaces, maskSecrets }: { workspaces: Pick<Workspaces, 'readFile'>; maskSecrets(text: string): string },
  { access, commit, path, max }: { access: RepositoryAccess; commit: string; path: string; max: number },
): Promise<string | null> {
  const file = await workspaces.readFile({ ...access, commit, path, maxBytes: max + 1 });
  if (file === null) return null;
  if (file.length <= max) return maskSecrets(file.toString());
  const whole = file
    .subarray(0, max)
    .toString()
    .replace(/(?<!\uFFFD)\uFFFD+$/u, '');
  return `${maskSecrets(whole)}\n(The file is longer; the first ${max / 1024} KB of it count.)`;
}
