import { lchownSync, lstatSync, readdirSync, type BigIntStats } from 'node:fs';
import { join } from 'node:path';

/** A folder as it was when all in it belonged to the user. */
interface KnownFolder {
  stamp: string;
  changedNs: bigint;
  folders: readonly string[];
}

interface KnownTree {
  uid: number;
  folders: Map<string, KnownFolder>;
}

const mostTrees = 64;
/** What lies deeper was made by a command, and so by the user. */
const longestPath = 3_800;
/** Of two changes within a step of the file system's clock, the second cannot be told from the first. */
const clockStepNs = 20_000_000n;

/**
 * Makes what gives everything in a tree to a user, links themselves and not what they lead to. Nothing else may be at work in the
 * tree. It remembers the folders it has been through: an entry is added only by a change of its folder, which the time of the last
 * change of its inode tells; that time nobody sets. A tree of which little has changed costs one look at each of its folders.
 */
export function createTreeOwner(): { give(tree: string, uid: number): void } {
  const trees = new Map<string, KnownTree>();

  function give(tree: string, uid: number): void {
    const before = trees.get(tree);
    const known: KnownTree['folders'] = before?.uid === uid ? before.folders : new Map();
    const folders: KnownTree['folders'] = new Map();
    const pending = [tree];
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      if (Buffer.byteLength(path) > longestPath) continue;
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
    if (trees.size > mostTrees && oldest !== undefined) trees.delete(oldest);
  }

  return { give };
}

/** Gives what lies in a folder, and answers the folders among it, which are not given yet. */
function giveEntries(folder: string, uid: number): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) found.push(path);
    else ownedBy(uid, path);
  }
  return found;
}

/** Null: there is nothing any more. */
function ownedBy(uid: number, path: string): BigIntStats | null {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return null;
  if (Number(stat.uid) === uid) return stat;
  lchownSync(path, uid, uid);
  return lstatSync(path, { bigint: true });
}
