import { lchownSync, lstatSync, readdirSync, type BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { bytesOf } from './tree.ts';

/** State of a folder when everything in it belonged to the user. */
interface KnownFolder {
  stamp: string;
  changedNs: bigint;
  folders: readonly string[];
}

interface KnownTree {
  uid: number;
  folders: Map<string, KnownFolder>;
}

const maxTrees = 64;
/** Longest path to visit, in bytes. Anything deeper was created by a command, and so by the user. */
const maxPathLength = 3_800;
/** Two changes within one step of the file system's clock cannot be distinguished. */
const clockStepNs = 20_000_000n;

/**
 * Creates a function that gives a user ownership of everything in a tree. It changes links themselves, not their
 * targets. Nothing else may modify the tree meanwhile. It remembers visited folders: adding an entry changes the
 * folder's ctime, which no process can set. A tree with few changes costs one stat per folder.
 */
export function createTreeOwner(): { give(tree: string, uid: number): void } {
  const trees = new Map<string, KnownTree>();

  function give(tree: string, uid: number): void {
    const before = trees.get(tree);
    const known: KnownTree['folders'] = before?.uid === uid ? before.folders : new Map();
    const folders: KnownTree['folders'] = new Map();
    const pending = [Buffer.from(tree).toString('latin1')];
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      if (path.length > maxPathLength) continue;
      const stat = ownedBy(uid, path);
      if (stat?.isDirectory() !== true) continue;
      const stamp = `${stat.dev}:${stat.ino}:${stat.ctimeNs}`;
      const past = known.get(path);
      const folder = past?.stamp === stamp ? past : { stamp, changedNs: stat.ctimeNs, folders: giveEntries(path, uid) };
      folders.set(path, folder);
      pending.push(...folder.folders);
    }
    const settledNs = BigInt(Date.now()) * 1_000_000n - clockStepNs;
    for (const [path, { changedNs }] of folders) if (changedNs > settledNs) folders.delete(path);
    trees.delete(tree);
    trees.set(tree, { uid, folders });
    const [oldest] = trees.keys();
    if (trees.size > maxTrees && oldest !== undefined) trees.delete(oldest);
  }

  return { give };
}

/** Changes the owner of a folder's entries, and returns the subfolders, whose owner is not changed yet. */
function giveEntries(folder: string, uid: number): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(bytesOf(folder), { withFileTypes: true, encoding: 'latin1' })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(path);
    else ownedBy(uid, path);
  }
  return found;
}

/** Returns null if the path no longer exists. */
function ownedBy(uid: number, name: string): BigIntStats | null {
  const path = bytesOf(name);
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return null;
  if (Number(stat.uid) === uid) return stat;
  lchownSync(path, uid, uid);
  return lstatSync(path, { bigint: true });
}
