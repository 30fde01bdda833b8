import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { agentPathOf, isGitName } from './agent-path.ts';
import { openChild, openFolder, resolveLinks, type Folder } from './beneath.ts';
import type { AgentPath } from './agent-path.ts';
import { ToolProblem } from '../tool-problem.ts';

export interface TreeEntry {
  /** The path from the root of the tree. */
  path: string;
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  /** The open folder it lies in; closed after the visit. */
  folder: Folder;
}

export interface Walk {
  root: string;
  start: AgentPath;
  signal: AbortSignal;
  maxDepth?: number;
  /** Called for every entry, parents first, names in order; `false` ends the walk. */
  visit(entry: TreeEntry): Promise<boolean>;
}

const MAX_ENTRIES = 100_000;
/** A folder stays open while its entries are visited, so this is the number of descriptors too. */
const MAX_DEPTH = 100;

/** Whether everything was seen, or why not: the tree is too large or too deep, or the visitor had enough. */
export type WalkEnd = 'complete' | 'stopped' | 'too-many' | 'too-deep';

/** Visits what lies beneath a folder. Links are not followed, `.git` is left out. Throws ToolProblem when `start` is no folder. */
export async function walkTree(walk: Walk): Promise<WalkEnd> {
  const start = await resolveLinks(walk.root, walk.start);
  await using folder = await openFolder(walk.root, start);
  const state: WalkState = { ...walk, left: MAX_ENTRIES, isTooDeep: false };
  const end = await walkFolder(state, { folder, path: walk.start.parts.join('/'), depth: 1 });
  return end === 'complete' && state.isTooDeep ? 'too-deep' : end;
}

/** The sentence for the end of an answer about a walk that did not see everything. */
export function walkNote(end: WalkEnd): string {
  if (end === 'too-many')
    return `\n[There are more than ${MAX_ENTRIES} entries; the rest were not searched. Give a path to search in.]`;
  if (end === 'too-deep') return `\n[Folders deeper than ${MAX_DEPTH} levels were not searched.]`;
  return '';
}

interface WalkState extends Walk {
  left: number;
  isTooDeep: boolean;
}

async function walkFolder(state: WalkState, at: { folder: Folder; path: string; depth: number }): Promise<WalkEnd> {
  for (const { name, kind } of await entriesOf(state, at.folder)) {
    state.signal.throwIfAborted();
    if (state.left === 0) return 'too-many';
    state.left -= 1;
    const path = at.path === '' ? name : `${at.path}/${name}`;
    if (!(await state.visit({ path, name, kind, folder: at.folder }))) return 'stopped';
    if (kind !== 'folder' || at.depth === state.maxDepth) continue;
    if (at.depth === MAX_DEPTH) {
      state.isTooDeep = true;
      continue;
    }
    const child = await openListed(at.folder, name, path);
    if (child === null) continue;
    await using folder = child;
    const end = await walkFolder(state, { folder, path, depth: at.depth + 1 });
    if (end !== 'complete') return end;
  }
  return 'complete';
}

/** A folder that has gone or become something else since it was listed is no longer part of the tree. */
async function openListed(parent: Folder, name: string, path: string): Promise<Folder | null> {
  try {
    return await openChild(parent, name, agentPathOf(path.split('/')).shown);
  } catch (error) {
    if (error instanceof ToolProblem || (error instanceof Error && 'code' in error && error.code === 'ENOENT'))
      return null;
    throw error;
  }
}

/** The entries of a folder in order, read until more are known than the walk has room for. */
async function entriesOf(state: WalkState, folder: Folder): Promise<{ name: string; kind: TreeEntry['kind'] }[]> {
  const entries: { name: string; kind: TreeEntry['kind'] }[] = [];
  for await (const entry of await opendir(folder.self, { bufferSize: 512 })) {
    if (isGitName(entry.name)) continue;
    entries.push({ name: entry.name, kind: kindOf(entry) });
    if (entries.length > state.left) break;
    if (entries.length % 10_000 === 0) state.signal.throwIfAborted();
  }
  return entries.sort((left, right) => (left.name < right.name ? -1 : 1));
}

function kindOf(entry: Dirent): TreeEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
