import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { tryLock } from '../../lib/file-lock.ts';
import { readBase } from './job-directory.ts';
import { abandonedAfterMs, mirrorNameOf } from './mirrors.ts';
import { pathInTrash } from './remove-tree.ts';

/** Mirrors used within this time are never removed. */
const keepUsedMs = 10 * 60_000;
/** Mirrors unused for this long are removed even when there is room: the repository may be abandoned. */
const forgetMs = 30 * 24 * 60 * 60_000;

interface StoredMirror {
  name: string;
  bytes: number;
  usedAtMs: number;
}

/**
 * Removes the least recently used mirrors until the rest fit within the limit, and every mirror unused for `forgetMs`.
 * Leaves mirrors that a working copy borrows objects from. A removed mirror is fetched again when it is needed. Returns
 * the number of mirrors removed.
 */
export async function boundMirrors(directory: string, limitBytes: number): Promise<number> {
  await removeHalfMade(directory);
  const stored = await listMirrors(join(directory, 'mirrors'));
  const borrowed = await borrowedMirrors(join(directory, 'jobs'));
  let bytes = stored.reduce((sum, mirror) => sum + mirror.bytes, 0);
  let removed = 0;
  for (const mirror of stored.toSorted((a, b) => a.usedAtMs - b.usedAtMs)) {
    const unusedMs = Date.now() - mirror.usedAtMs;
    if (unusedMs < (bytes > limitBytes ? keepUsedMs : forgetMs)) break;
    if (borrowed.has(mirror.name) || !(await removeMirror(directory, mirror))) continue;
    bytes -= mirror.bytes;
    removed += 1;
  }
  return removed;
}

/** Removes what killed workers of versions that made mirrors beside the others left there. */
async function removeHalfMade(directory: string): Promise<void> {
  const mirrors = join(directory, 'mirrors');
  for (const name of (await namesIn(mirrors)).filter((name) => /^[0-9a-f]{32}\.git\.[0-9a-f-]{36}$/.test(name)))
    if (Date.now() - (await timeOf(join(mirrors, name))) > abandonedAfterMs)
      await rm(join(mirrors, name), { recursive: true, force: true });
}

async function listMirrors(folder: string): Promise<StoredMirror[]> {
  const names = (await namesIn(folder)).filter((name) => /^[0-9a-f]{32}\.git$/.test(name));
  return Promise.all(
    names.map(async (file) => ({
      name: file.slice(0, -'.git'.length),
      bytes: await sizeOf(join(folder, file)),
      usedAtMs: await timeOf(join(folder, file, 'HEAD')),
    })),
  );
}

async function borrowedMirrors(jobs: string): Promise<Set<string>> {
  const bases = (await namesIn(jobs)).map((name) => readBase({ root: join(jobs, name) }));
  return new Set(bases.flatMap((base) => (base === null ? [] : [mirrorNameOf(base)])));
}

/** Moves the mirror to the trash before deleting it, so that no process sees it half deleted. */
async function removeMirror(directory: string, { name, usedAtMs }: StoredMirror): Promise<boolean> {
  using lock = tryLock(join(directory, 'locks', `mirror-${name}.lock`));
  if (lock === null) return false;
  const gitDir = join(directory, 'mirrors', `${name}.git`);
  if ((await timeOf(join(gitDir, 'HEAD'))) !== usedAtMs) return false;
  const trash = await pathInTrash(directory);
  await rename(gitDir, trash);
  await rm(trash, { recursive: true, force: true });
  return true;
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function timeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.mtimeMs ?? 0;
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name)).catch(() => null))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
