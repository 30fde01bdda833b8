import { cutToBytes } from '../tools/tool-output.ts';
import type { RepositoryAccess } from '../git/remote.ts';
import type { Workspaces } from '../workspaces/workspaces.ts';

/** Secrets longer than that are recognized by their beginning. */
const maxSecretLength = 100;

/** Returns the first bytes of a file of a commit, redacted; null when the commit has no such file. */
export async function readBeginning(
  { workspaces, maskSecrets }: { workspaces: Pick<Workspaces, 'readFile'>; maskSecrets(text: string): string },
  { access, commit, path, max }: { access: RepositoryAccess; commit: string; path: string; max: number },
): Promise<string | null> {
  const file = await workspaces.readFile({ ...access, commit, path, maxBytes: max + maxSecretLength });
  if (file === null) return null;
  if (file.length <= max) return maskSecrets(file.toString());
  // masked before it is cut, because part of a short secret would not be recognized
  return `${cutToBytes(maskSecrets(file.toString()), max)}\n(The file is longer; the first ${max / 1024} KB of it count.)`;
}
