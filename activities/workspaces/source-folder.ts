import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Git } from '../git/git.ts';
import { blobOf, maxFileBytes, readBlobs, type Blob } from '../git/blobs.ts';
import { listedEntries } from '../git/listed-entries.ts';
import { codeOf } from '../../lib/error-code.ts';

/**
 * A text file of a documentation folder, in UTF-8 or, with a byte order mark, in UTF-16. Its path is relative to the folder and
 * has forward slashes.
 */
export interface FolderFile {
  path: string;
  /** Identifies the content: equal names mean equal contents. */
  name: string;
  /** Null if the reader already knows the file, or it is too large to be read. */
  content: Uint8Array | null;
  isTooLarge?: true;
}

/** Reports whether a reader already knows the content of a file. */
export type IsKnownFile = (file: { path: string; name: string }) => boolean;

/** Thrown when the folder cannot be read as a site's source; `message` is a sentence for the owner of the site. */
export class SourceFolderError extends Error {
  override name = 'SourceFolderError';
}

const maxFiles = 50_000;
const maxFolderBytes = 500 * 1024 * 1024;
/**
 * Largest git listing of a folder, in bytes: about 100 per file. A tree of a few objects can list billions of files.
 */
const maxListBytes = 32 * 1024 * 1024;
const maxEntries = 500_000;
const maxDepth = 40;
/** Pages, their translations, descriptions of APIs, and the files by which a documentation tool is recognized. */
const readable =
  /\.(?:md|mdx|markdown|html?|rst|adoc|asciidoc|json|ya?ml|toml)$|\.po$(?<=(?:^|\/)LC_MESSAGES\/.*)|(?:^|\/)(?:conf\.py|(?:(?:docusaurus\.|astro\.)?config|(?:\w+-)?sidebars?[\w-]*|\.vitepress\/(?:config\/(?:[\w-]+\/)?)?[\w.-]+)\.[cm]?[jt]s)$/i;

/**
 * Returns git's tree id of a folder at a commit, which identifies its content. Returns null if the commit has no such
 * folder.
 */
export async function folderRevision(
  git: Pick<Git, 'run'>,
  { gitDir, commit, path, signal }: { gitDir: string; commit: string; path: string; signal: AbortSignal },
): Promise<string | null> {
  const resolve = async (name: string) => {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', name];
    const { stdout, exitCode } = await git.run({ gitDir, args, acceptedExitCodes: [1, 128], signal });
    return exitCode === 0 ? stdout.toString().trim() : null;
  };
  if (path === '') return resolve(`${commit}^{tree}`);
  const object = await resolve(`${commit}:${path}`);
  return object === null ? null : resolve(`${object}^{tree}`);
}

/**
 * Lists the text files of a folder and reads the unknown ones from git's objects, without a checkout. Errors: GitError,
 * SourceFolderError.
 */
export async function readGitFolder(
  git: Pick<Git, 'run'>,
  { gitDir, tree, isKnown, signal }: { gitDir: string; tree: string; isKnown: IsKnownFile; signal: AbortSignal },
): Promise<FolderFile[]> {
  const listed = await git.run({
    gitDir,
    args: ['ls-tree', '-r', '-z', '-l', '--full-tree', tree],
    maxOutputBytes: maxListBytes,
    signal,
  });
  if (listed.truncated) throw tooManyEntries();
  const blobs = await blobsIn(listed.stdout, signal);
  checkLimits(blobs);
  const files = blobs.map(({ path, object, size }): FolderFile => ({
    path,
    name: object,
    content: null,
    ...markOf(size),
  }));
  const unknown = blobs.flatMap((blob, at) =>
    files[at]?.isTooLarge || isKnown({ path: blob.path, name: blob.object }) ? [] : [{ blob, at }],
  );
  for await (const [{ blob, at }, content] of readBlobs(git, unknown, { gitDir, signal }))
    files[at] = { path: blob.path, name: blob.object, content };
  return files;
}

async function blobsIn(list: Buffer, signal: AbortSignal): Promise<Blob[]> {
  const blobs: Blob[] = [];
  for await (const entries of listedEntries(list, signal)) {
    blobs.push(
      ...entries
        .map(blobOf)
        .filter((blob) => blob !== null)
        .filter(({ path }) => readable.test(path)),
    );
    if (blobs.length > maxFiles) break;
  }
  return blobs;
}

function markOf(size: number): Pick<FolderFile, 'isTooLarge'> {
  return size > maxFileBytes ? { isTooLarge: true } : {};
}

function tooManyEntries(): SourceFolderError {
  return new SourceFolderError('The folder contains too many files. Give the site a smaller folder.');
}

/**
 * Reads the text files of a directory on this machine below `root`; each is named after its content. Does not follow
 * symbolic links. Errors: SourceFolderError.
 */
export async function readDirectory({
  directory,
  root,
  signal,
}: {
  directory: string;
  root: string | null;
  signal: AbortSignal;
}): Promise<FolderFile[]> {
  const top = await checkedDirectory(directory, root);
  const found: { path: string; size: number }[] = [];
  let seen = 0;
  await walk('', 0);
  checkLimits(found);
  found.sort((a, b) => (a.path < b.path ? -1 : 1));
  const files: FolderFile[] = [];
  for (const { path, size } of found) {
    signal.throwIfAborted();
    if (size > maxFileBytes) {
      files.push({ path, name: 'too-large', content: null, ...markOf(size) });
      continue;
    }
    const content = await existing(path, () => readRegularFile(join(top, path)));
    if (content !== null) files.push({ path, name: createHash('sha256').update(content).digest('hex'), content });
  }
  return files;

  async function walk(below: string, depth: number): Promise<void> {
    signal.throwIfAborted();
    const entries = await existing(below, () => readdir(join(top, below), { withFileTypes: true }));
    seen += entries?.length ?? 0;
    if (seen > maxEntries) throw tooManyEntries();
    for (const entry of entries ?? []) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) {
        if (depth < maxDepth && entry.name !== '.git' && entry.name !== 'node_modules') await walk(path, depth + 1);
      } else if (entry.isFile() && readable.test(path)) {
        const size = (await existing(path, () => lstat(join(top, path))))?.size ?? null;
        if (size !== null) found.push({ path, size });
        if (found.length > maxFiles) return;
      }
    }
  }
}

/** Returns null if the file is not regular, or too large: it may have grown since it was listed. */
export async function readRegularFile(file: string, maxBytes = maxFileBytes): Promise<Uint8Array | null> {
  await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const stats = await handle.stat();
  return stats.isFile() && stats.size <= maxBytes ? await handle.readFile() : null;
}

/** Returns null if the path has disappeared, or become a symbolic link, since it was listed. */
async function existing<Result>(path: string, read: () => Promise<Result>): Promise<Result | null> {
  try {
    return await read();
  } catch (cause) {
    const code = codeOf(cause);
    if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENOTDIR') return null;
    if (code !== 'EACCES' && code !== 'EPERM') throw cause;
    throw new SourceFolderError(`The worker may not read ${path === '' ? 'the directory of the site' : path}.`, {
      cause,
    });
  }
}

/** Returns the real path of a directory below `root`. Errors: SourceFolderError. */
export async function checkedDirectory(directory: string, root: string | null): Promise<string> {
  if (root === null) {
    throw new SourceFolderError(
      'This worker reads no directories. Set DOCKET_SITE_DIRECTORIES to the folder that contains them.',
    );
  }
  try {
    const [top, allowed] = await Promise.all([realpath(directory), realpath(root)]);
    if (top === allowed || top.startsWith(allowed.endsWith(sep) ? allowed : allowed + sep)) return top;
  } catch (cause) {
    throw new SourceFolderError("The site's directory does not exist, or the worker cannot enter it.", {
      cause,
    });
  }
  throw new SourceFolderError("The site's directory is outside the worker's DOCKET_SITE_DIRECTORIES.");
}

function checkLimits(files: { size: number }[]): void {
  if (files.length > maxFiles)
    throw new SourceFolderError(`The folder contains more than ${maxFiles} pages. Give the site a smaller folder.`);
  if (files.reduce((sum, { size }) => sum + (size > maxFileBytes ? 0 : size), 0) > maxFolderBytes) {
    throw new SourceFolderError(`The pages of the folder are larger than ${maxFolderBytes / 1024 / 1024} MB in total.`);
  }
}
