import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { isAbsolute, join, relative } from 'node:path';
import { agentPathOf, isGitName, showPath, type AgentPath } from './agent-path.ts';
import { ToolProblem, problemOf } from '../tool-problem.ts';
import { codeOf } from '../../../lib/error-code.ts';

const maxLinks = 40;

/** An open folder, so that its entries are found in it and nowhere else, whatever happens to its path. */
export interface Folder extends AsyncDisposable {
  /** A path of the folder itself, for functions that take paths. */
  self: string;
  /** Returns the path of an entry; the name is a plain name without separators. */
  at(name: string): string;
}

/** Opens the root of a tree. A missing root is not the model's problem, so the error is thrown unchanged. */
function openRoot(root: string): Promise<Folder> {
  return realpath(root).then(holdFolder);
}

/**
 * Opens a folder below the root without following symbolic links, and creates missing folders on request. Throws
 * ToolProblem.
 */
export async function openFolder(root: string, path: AgentPath, { create = false } = {}): Promise<Folder> {
  let folder = await openRoot(root);
  for (const [index, name] of path.parts.entries()) {
    const shown = agentPathOf(path.parts.slice(0, index + 1)).shown;
    const parent = folder;
    try {
      if (create) await makeFolder(parent, name);
      folder = await openChild(parent, name, shown);
    } catch (error) {
      throw problemOf(error, shown);
    } finally {
      await parent[Symbol.asyncDispose]();
    }
  }
  return folder;
}

/** Opens a folder of an open folder. Throws ToolProblem for a symbolic link or a file, else the file system's error. */
export async function openChild(parent: Folder, name: string, shown: string): Promise<Folder> {
  try {
    return await holdFolder(parent.at(name));
  } catch (error) {
    const stat = await statIn(parent, name);
    if (stat?.isSymbolicLink())
      throw new ToolProblem(`${shown} is a symbolic link; paths through symbolic links are not accessible.`);
    if (stat !== null && !stat.isDirectory()) throw new ToolProblem(`${shown} is a file, not a folder.`);
    throw error;
  }
}

/** Returns the status of an entry, without following a link; null when there is none. */
export async function statIn(folder: Folder, name: string): Promise<Stats | null> {
  try {
    return await lstat(folder.at(name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Returns what a symbolic link names, as outputs show it. */
export async function targetIn(folder: Folder, name: string): Promise<string> {
  // it may be replaced at any time
  const target = await readlink(folder.at(name)).catch(() => 'nothing');
  return showPath(target).slice(0, 200);
}

/** Opens a regular file of a folder for reading. Throws ToolProblem for links, folders, pipes, sockets and devices. */
export async function openFile(
  folder: Folder,
  name: string,
  shown: string,
): Promise<{ file: FileHandle; stat: Stats }> {
  try {
    const listed = await lstat(folder.at(name));
    if (listed.isSymbolicLink()) {
      const target = await targetIn(folder, name);
      throw new ToolProblem(`${shown} is a symbolic link to ${target}, which this tool does not follow.`);
    }
    checkRegular(listed, shown);
    // The entry may be replaced meanwhile: no link is followed, a pipe does not block, and the descriptor is checked
    // again.
    const file = await open(folder.at(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = await file.stat();
      checkRegular(stat, shown);
      return { file, stat };
    } catch (error) {
      await file.close();
      throw error;
    }
  } catch (error) {
    throw problemOf(error, shown);
  }
}

/**
 * Resolves a path through the symbolic links of the tree without accessing anything outside it. Throws ToolProblem when
 * a link leaves the tree, enters `.git` or forms a cycle.
 */
export async function resolveLinks(root: string, path: AgentPath): Promise<AgentPath> {
  const realRoot = await realpath(root);
  const rest = [...path.parts];
  let done: string[] = [];
  let links = 0;
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (done.pop() === undefined) throw leavesTree(path);
      continue;
    }
    if (isGitName(name)) throw new ToolProblem(`${path.shown} leads into .git, which is not accessible.`);
    const resolved = join(realRoot, ...done, name);
    const target = await linkTarget(resolved, path);
    if (target === null) {
      done.push(name);
      continue;
    }
    links += 1;
    if (links > maxLinks) throw new ToolProblem(`${path.shown} is a symbolic link to itself.`);
    if (isAbsolute(target)) done = [];
    rest.unshift(...(isAbsolute(target) ? partsBeneath(realRoot, root, target, path) : target.split('/')));
  }
  return { parts: done, shown: path.shown };
}

async function holdFolder(path: string): Promise<Folder> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  // Linux finds names in the folder of a descriptor; elsewhere the checked path has to do.
  const self = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path;
  return { self, at: (name) => `${self}/${name}`, [Symbol.asyncDispose]: () => handle.close() };
}

async function makeFolder(parent: Folder, name: string): Promise<void> {
  try {
    await mkdir(parent.at(name));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function checkRegular(stat: Stats, shown: string): void {
  if (stat.isFile() && stat.nlink <= 1) return;
  if (stat.isFile()) throw new ToolProblem(`${shown} is a hard link; tools do not open files with a second name.`);
  if (stat.isDirectory()) throw new ToolProblem(`${shown} is a folder, not a file; use list to see what it holds.`);
  throw new ToolProblem(`${shown} is not a regular file (a pipe, a socket or a device).`);
}

async function linkTarget(resolved: string, path: AgentPath): Promise<string | null> {
  try {
    const stat = await lstat(resolved);
    return stat.isSymbolicLink() ? await readlink(resolved) : null;
  } catch (error) {
    // The entry was a link a moment ago and no longer is.
    if (codeOf(error) === 'EINVAL') return null;
    throw problemOf(error, path.shown);
  }
}

function partsBeneath(realRoot: string, root: string, target: string, path: AgentPath): string[] {
  const inside = [realRoot, root].map((base) => relative(base, target).split('/')).find(([first]) => first !== '..');
  if (inside === undefined) throw leavesTree(path);
  return inside;
}

function leavesTree(path: AgentPath): ToolProblem {
  return new ToolProblem(`${path.shown} leads outside the repository through a symbolic link.`);
}
