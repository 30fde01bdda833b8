import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { agentPathOf, isGitName, showPath } from './agent-path.ts';
import { openChild, openFolder, resolveLinks, type Folder } from './beneath.ts';
import type { AgentPath } from './agent-path.ts';
import { ToolProblem } from '../tool-problem.ts';
import { codeOf } from '../../../lib/error-code.ts';

export interface TreeEntry {
  /** The path from the root of the tree. */
  path: string;
  name: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  /** Whether ignore rules cover it; then nothing below it is visited. */
  isIgnored: boolean;
  /** The open folder that contains it; closed after the visit. */
  folder: Folder;
}

export interface Walk {
  root: string;
  start: AgentPath;
  signal: AbortSignal;
  maxDepth?: number;
  /** Returns the paths that ignore rules cover; they count unless the walk starts below one. */
  ignoredPaths?(): Promise<ReadonlySet<string>>;
  /** Called for every entry, parents first, names in order; `false` ends the walk. */
  visit(entry: TreeEntry): Promise<boolean>;
}

const maxEntries = 100_000;
/** A folder stays open while its entries are visited, so this also limits open descriptors. */
const depthLimit = 100;

const visitedAtOnce = 1_000;
const sortedAtOnce = 10_000;

/** Whether everything was visited, or why not: the tree is too large or too deep, or the visitor stopped. */
export type WalkEnd = 'complete' | 'stopped' | 'too-many' | 'too-deep';

/**
 * Visits everything below a folder. Links are not followed, and `.git` is omitted. Throws ToolProblem when `start` is
 * not a folder.
 */
export async function walkTree(walk: Walk): Promise<WalkEnd> {
  const start = await resolveLinks(walk.root, walk.start);
  await using folder = await openFolder(walk.root, start);
  const path = walk.start.parts.join('/');
  const ignored = (await walk.ignoredPaths?.()) ?? new Set();
  const isInside = walk.start.parts.some((_, at, parts) => ignored.has(parts.slice(0, at + 1).join('/')));
  const state: WalkState = { ...walk, ignored: isInside ? new Set() : ignored, left: maxEntries, isTooDeep: false };
  const end = await walkFolder(state, { folder, path, depth: 1 });
  return end === 'complete' && state.isTooDeep ? 'too-deep' : end;
}

/** Returns the note at the end of an output about an incomplete walk. */
export function walkNote(end: WalkEnd): string {
  if (end === 'too-many')
    return `\n[There are more than ${maxEntries} entries; the rest were not searched. Give a path to search in.]`;
  if (end === 'too-deep') return `\n[Folders deeper than ${depthLimit} levels were not searched.]`;
  return '';
}

/** Returns the note at the end of an output that found nothing, about ignored paths that were left out. */
export function ignoredNote(paths: readonly string[]): string {
  return paths.length === 0 ? '' : `\n[Not searched, because git ignores it: ${namesText(paths)}]`;
}

const maxNamed = 10;

/** Returns the first paths of a list and how many more there are. */
export function namesText(paths: readonly string[]): string {
  const named = paths.slice(0, maxNamed).map(showPath).join(', ');
  return paths.length > maxNamed ? `${named} and ${paths.length - maxNamed} more` : named;
}

interface WalkState extends Walk {
  ignored: ReadonlySet<string>;
  left: number;
  isTooDeep: boolean;
}

async function walkFolder(state: WalkState, at: { folder: Folder; path: string; depth: number }): Promise<WalkEnd> {
  for (const { name, kind } of await entriesOf(state, at.folder)) {
    state.signal.throwIfAborted();
    if (state.left === 0) return 'too-many';
    state.left -= 1;
    if (state.left % visitedAtOnce === 0) await nextTurn();
    const path = at.path === '' ? name : `${at.path}/${name}`;
    const isIgnored = state.ignored.has(path);
    if (!(await state.visit({ path, name, kind, isIgnored, folder: at.folder }))) return 'stopped';
    if (kind !== 'folder' || isIgnored || at.depth === state.maxDepth) continue;
    if (at.depth === depthLimit) {
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

/** Returns null for a folder that was removed or replaced since it was listed; it is no longer part of the tree. */
async function openListed(parent: Folder, name: string, path: string): Promise<Folder | null> {
  try {
    return await openChild(parent, name, agentPathOf(path.split('/')).shown);
  } catch (error) {
    if (error instanceof ToolProblem || ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(codeOf(error) ?? '')) return null;
    throw error;
  }
}

type ListedEntry = Pick<TreeEntry, 'name' | 'kind'>;

/** Yields the entries of a folder in order. Stops reading when there are more than the walk may still visit. */
async function entriesOf(state: WalkState, folder: Folder): Promise<Iterable<ListedEntry>> {
  const sorted: ListedEntry[][] = [];
  let listed: ListedEntry[] = [];
  let count = 0;
  for await (const entry of await opendir(folder.self, { bufferSize: 512 })) {
    if (isGitName(entry.name)) continue;
    listed.push({ name: entry.name, kind: kindOf(entry) });
    count += 1;
    if (count > state.left) break;
    if (listed.length < sortedAtOnce) continue;
    sorted.push(listed.sort(byName));
    listed = [];
    state.signal.throwIfAborted();
    await nextTurn();
  }
  return merged([...sorted, listed.sort(byName)]);
}

/** Merges sorted lists one entry at a time: sorting a large folder at once would block the event loop. */
function* merged(lists: ListedEntry[][]): Generator<ListedEntry> {
  const at = lists.map(() => 0);
  for (;;) {
    let first = -1;
    for (const [list, entries] of lists.entries()) {
      const entry = entries[at[list] ?? 0];
      const least = lists[first]?.[at[first] ?? 0];
      if (entry !== undefined && (least === undefined || byName(entry, least) < 0)) first = list;
    }
    const entry = lists[first]?.[at[first] ?? 0];
    if (entry === undefined) return;
    at[first] = (at[first] ?? 0) + 1;
    yield entry;
  }
}

function byName(left: ListedEntry, right: ListedEntry): number {
  return left.name < right.name ? -1 : 1;
}

function kindOf(entry: Dirent): TreeEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
