import type { Git } from './git.ts';

interface FileRequest {
  gitDir: string;
  commit: string;
  path: string;
  maxBytes: number;
  signal: AbortSignal;
}

/** Reads a regular file of a commit from git's objects; null when there is none, or something else, under the path. */
export async function readFileAt(
  git: Git,
  { gitDir, commit, path, maxBytes, signal }: FileRequest,
): Promise<Buffer | null> {
  if (path.split('/').some((part) => ['', '.', '..'].includes(part))) return null;
  const listed = await git.run({ gitDir, args: ['ls-tree', '-z', '--full-tree', commit, '--', path], signal });
  const entries = listed.stdout.toString().split('\0').filter(Boolean);
  const found = entries.find((entry) => entry.endsWith(`\t${path}`));
  const [, object] = found?.match(/^100(?:644|755) blob ([0-9a-f]{40})\t/) ?? [];
  if (object === undefined) return null;
  const { stdout } = await git.run({ gitDir, args: ['cat-file', 'blob', object], maxOutputBytes: maxBytes, signal });
  return stdout;
}
