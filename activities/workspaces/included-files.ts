import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { blobOf, readBlobs, type Blob } from '../git/blobs.ts';
import type { Git } from '../git/git.ts';
import { codeOf } from '../../lib/error-code.ts';
import { readRegularFile, type FolderFile } from './source-folder.ts';

/** Bounds of the files that the pages of one source include. */
const maxFiles = 5_000;
const maxFileBytes = 1024 * 1024;
const maxTotalBytes = 50 * 1024 * 1024;
const pathsPerListing = 500;

/**
 * Returns a reader of the files of a commit that pages include and that are not among the pages: source code, for example.
 * Paths are relative to the site's folder, and may lead out of it, but not out of the repository. What does not exist, is
 * hidden, a link, no text or beyond the bounds is left out. Errors: GitError.
 */
export function createGitIncludes(
  git: Pick<Git, 'run'>,
  { gitDir, commit, folder, signal }: { gitDir: string; commit: string; folder: string; signal: AbortSignal },
): (paths: readonly string[]) => Promise<FolderFile[]> {
  const take = createBounds();
  return async (paths) => {
    const wanted = new Map(paths.flatMap((path) => allowed(path, posix.normalize(posix.join(folder, path)))));
    const blobs: Blob[] = [];
    for (let at = 0; at < wanted.size; at += pathsPerListing) {
      const args = ['ls-tree', '-z', '-l', '--full-tree', commit, '--'];
      const some = [...wanted.keys()].slice(at, at + pathsPerListing);
      const { stdout } = await git.run({ gitDir, args: [...args, ...some], signal });
      const entries = stdout.toString().split('\0').map(blobOf);
      blobs.push(
        ...entries.filter((blob) => blob !== null).filter(({ path, size }) => wanted.has(path) && take(path, size)),
      );
    }
    const files: FolderFile[] = [];
    for await (const [{ blob }, content] of readBlobs(
      git,
      blobs.map((blob) => ({ blob })),
      { gitDir, signal },
    ))
      files.push({ path: wanted.get(blob.path) ?? '', name: blob.object, content });
    return files.filter(isText);
  };
}

/** Returns the same for a directory, which no path may leave: only the directory itself is granted. */
export function createDirectoryIncludes(top: string): (paths: readonly string[]) => Promise<FolderFile[]> {
  const take = createBounds();
  return async (paths) => {
    const files: FolderFile[] = [];
    for (const [path, given] of paths.flatMap((path) => allowed(path, posix.normalize(path)))) {
      const content = await readBeneath(top, path);
      if (content === null || !take(path, content.byteLength)) continue;
      files.push({ path: given, name: createHash('sha256').update(content).digest('hex'), content });
    }
    return files.filter(isText);
  };
}

/** Returns the content of a regular file that is reached without a symbolic link. */
async function readBeneath(top: string, path: string): Promise<Uint8Array | null> {
  const file = join(top, path);
  try {
    return (await realpath(file)) === file ? await readRegularFile(file, maxFileBytes) : null;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'EPERM'].includes(codeOf(error) ?? '')) return null;
    throw error;
  }
}

/** Pairs the path in the repository or directory with the given one, if it may be read. */
function allowed(given: string, path: string): [string, string][] {
  const segments = path.split('/');
  // git gives a path that begins with a colon a special meaning
  const isPlain = !/^:|\0/.test(path) && segments.every((segment) => segment !== '' && !segment.startsWith('.'));
  return isPlain ? [[path, given]] : [];
}

/** Counts a file once: a build that needs more files than were read begins again. */
function createBounds(): (path: string, size: number) => boolean {
  const taken = new Map<string, number>();
  let bytes = 0;
  return (path, size) => {
    const before = taken.get(path);
    const total = bytes + size - (before ?? 0);
    if (size > maxFileBytes || total > maxTotalBytes || (before === undefined && taken.size >= maxFiles)) return false;
    taken.set(path, size);
    bytes = total;
    return true;
  };
}

function isText({ content }: FolderFile): boolean {
  return content !== null && !content.includes(0);
}
