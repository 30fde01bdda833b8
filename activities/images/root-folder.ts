import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  type FileHandle,
} from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../lib/error-code.ts';
import { ImageError } from './image-error.ts';

/** Writes the file system of an image into a folder, and never outside of it. */
export interface RootFolder {
  /** Creates a folder, unless there is one. */
  makeFolder(path: string): Promise<void>;
  /** Creates a file, replacing whatever has its name, and returns it open for writing. */
  makeFile(path: string, mode: number): Promise<FileHandle>;
  /** Creates an empty file, replacing whatever has its name unless that is a file. */
  ensureFile(path: string): Promise<void>;
  makeLink(path: string, target: string): Promise<void>;
  /** Gives a file that exists a further name. */
  makeHardLink(path: string, existing: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Removes what a folder holds, except for the paths in `kept`. */
  clear(path: string, kept: ReadonlySet<string>): Promise<void>;
  /** Returns the type of the entry at a path of the image; null if there is none. */
  typeOf(path: string): Promise<'folder' | 'file' | null>;
}

const maxLinks = 40;
const maxDepth = 128;
const maxPathLength = 3_000;

/** Splits a path of an image into names. Throws ImageError for one that leads out of it. */
export function namesOf(path: string): string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..') || path.includes('\0')) throw hostile('a path with ".."');
  if (names.length > maxDepth || path.length > maxPathLength || names.some((name) => Buffer.byteLength(name) > 255))
    throw hostile('a path that is too long');
  return names;
}

/**
 * Creates the writer. Links in a path are followed within the folder, as the image's own programs would follow them:
 * an absolute target begins at the folder. Nothing else may write to the folder.
 */
export function createRootFolder(root: string): RootFolder {
  /** Folders that are known to exist, by their path in the image; a removal forgets them all. */
  const known = new Map<string, string[]>();

  const hostPath = (names: readonly string[]) => join(root, ...names);

  /** Returns where a folder of the image really is, and creates it if `create` is set. */
  async function folderOf(names: readonly string[], { create }: { create: boolean }): Promise<string[] | null> {
    const key = names.join('/');
    const before = known.get(key);
    if (before !== undefined) return before;
    const pending = [...names].reverse();
    let at: string[] = [];
    for (let name = pending.pop(), links = 0; name !== undefined; name = pending.pop()) {
      if (name === '..') at = at.slice(0, -1);
      if (name === '..') continue;
      const next = [...at, name];
      const stat = await lstatOf(hostPath(next));
      if (stat?.isSymbolicLink() === true) {
        links += 1;
        if (links > maxLinks) throw hostile('links that lead in a circle');
        const target = await readlink(hostPath(next));
        if (target.startsWith('/')) at = [];
        pending.push(
          ...target
            .split('/')
            .filter((part) => part !== '' && part !== '.')
            .reverse(),
        );
        if (pending.length > maxLinks * maxDepth) throw hostile('links that are too long');
        continue;
      }
      if (stat?.isDirectory() !== true) {
        if (!create) return null;
        if (stat !== null) await rm(hostPath(next), { force: true });
        await makeOpenFolder(hostPath(next));
      }
      at = next;
    }
    known.set(key, at);
    return at;
  }

  /** Returns the path on this machine of an entry that is about to be created. */
  async function placeOf(path: string): Promise<string> {
    const names = namesOf(path);
    const name = names.pop();
    if (name === undefined) throw hostile('an entry without a name');
    return hostPath([...((await folderOf(names, { create: true })) ?? []), name]);
  }

  async function emptied(path: string): Promise<string> {
    const place = await placeOf(path);
    const stat = await lstatOf(place);
    if (stat?.isDirectory() === true) known.clear();
    if (stat !== null) await rm(place, { recursive: true, force: true });
    return place;
  }

  async function makeFile(path: string, mode: number): Promise<FileHandle> {
    const place = await emptied(path);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = await open(place, flags, 0o600);
    await file.chmod((mode & 0o111) === 0 ? 0o644 : 0o755);
    return file;
  }

  return {
    async makeFolder(path) {
      if (namesOf(path).length === 0) return;
      const place = await placeOf(path);
      const stat = await lstatOf(place);
      if (stat?.isDirectory() === true) return;
      known.clear();
      if (stat !== null) await rm(place, { force: true });
      await makeOpenFolder(place);
    },
    makeFile,
    async ensureFile(path) {
      const stat = await lstatOf(await placeOf(path));
      if (stat?.isFile() !== true) await (await makeFile(path, 0o644)).close();
    },
    async makeLink(path, target) {
      if (target === '' || target.includes('\0') || target.length > maxPathLength)
        throw hostile('a link without a target');
      known.clear();
      await symlink(target, await emptied(path));
    },
    async makeHardLink(path, existing) {
      const names = namesOf(existing);
      const name = names.pop();
      const folder = name === undefined ? null : await folderOf(names, { create: false });
      const from = folder === null || name === undefined ? null : hostPath([...folder, name]);
      const stat = from === null ? null : await lstatOf(from);
      if (from === null || !(stat?.isFile() === true || stat?.isSymbolicLink() === true))
        throw hostile('a hard link to a file that does not exist');
      const place = await placeOf(path);
      if (place === from) return;
      // by another name first: the path may be a folder that contains the file
      const between = join(root, `.${randomUUID()}`);
      await link(from, between);
      await rename(between, await emptied(path));
    },
    async remove(path) {
      const names = namesOf(path);
      const name = names.pop();
      if (name === undefined) throw hostile('a removal without a name');
      const folder = await folderOf(names, { create: false });
      known.clear();
      if (folder !== null) await rm(hostPath([...folder, name]), { recursive: true, force: true });
    },
    async clear(path, kept) {
      const folder = await folderOf(namesOf(path), { create: false });
      if (folder === null) return;
      known.clear();
      await removeAllBut(hostPath(folder), namesOf(path).join('/'), kept);
    },
    async typeOf(path) {
      const names = namesOf(path);
      const name = names.at(-1);
      if (name === undefined) return 'folder';
      const whole = await folderOf(names, { create: false }).catch(() => null);
      if (whole !== null) return 'folder';
      return (await isFile(names)) ? 'file' : null;
    },
  };

  /** Follows the links of a file, each within the image. */
  async function isFile(names: string[]): Promise<boolean> {
    let at = names;
    for (let links = 0; links <= maxLinks; links += 1) {
      const folder = await folderOf(at.slice(0, -1), { create: false }).catch(() => null);
      const name = at.at(-1);
      if (folder === null || name === undefined || name === '..') return false;
      const place = [...folder, name];
      const stat = await lstatOf(hostPath(place));
      if (stat?.isSymbolicLink() !== true) return stat?.isFile() === true;
      const target = await readlink(hostPath(place));
      const parts = target.split('/').filter((part) => part !== '' && part !== '.');
      at = target.startsWith('/') ? parts : [...folder, ...parts];
    }
    return false;
  }
}

/** Every job reads the image as its own user, whatever mask of modes this process has. */
async function makeOpenFolder(path: string): Promise<void> {
  await mkdir(path);
  await chmod(path, 0o755);
}

async function removeAllBut(folder: string, path: string, kept: ReadonlySet<string>): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const inside = path === '' ? entry.name : `${path}/${entry.name}`;
    if (!kept.has(inside)) await rm(join(folder, entry.name), { recursive: true, force: true });
    else if (entry.isDirectory()) await removeAllBut(join(folder, entry.name), inside, kept);
  }
}

async function lstatOf(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return null;
    throw error;
  }
}

function hostile(what: string): ImageError {
  return new ImageError('refused', `The image has ${what}. Use another image.`);
}
