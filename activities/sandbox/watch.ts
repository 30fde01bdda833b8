import { heldFiles } from './held-files.ts';
import type { MemoryGroup } from './memory-group.ts';
import { memoryOf } from './processes.ts';
import type { SandboxLimits } from './command-environment.ts';
import { hasOwnDisk } from '../workspaces/own-disk.ts';
import { isDiskFull, sizeOfTree, usedBytes } from './tree.ts';

export type Excess = 'memory' | 'disk';

export interface WatchedCommand {
  tree: string;
  /** The folders that the command can write and keep, the tree among them. */
  folders: readonly string[];
  limits: SandboxLimits;
  /** Group with the kernel's own memory limit; null when the memory of the processes is measured instead. */
  group: MemoryGroup | null;
  /** First process inside the sandbox; null until it exists. */
  firstPid(): number | null;
  /** Called once, when the command exceeds a limit. */
  onExcess(excess: Excess): void;
}

const everyMs = 100;
/** Measuring the tree uses at most a tenth of a CPU while the disk is not filling up. */
const restFactor = 9;
/** Writes of a shorter period show in the disk usage, except for what others have deleted meanwhile. */
const briefMs = 1_000;

/**
 * Monitors a command's resource use until disposed of. The tree is measured before the command starts and then
 * repeatedly, more often when the file system fills up. It does not matter who fills it: only the tree, and the
 * unlinked files that the command's processes hold, show what the command has written. A tree with its own
 * disk is measured by that disk's usage.
 */
export function watchCommand({ tree, folders, limits, group, firstPid, onExcess }: WatchedCommand) {
  const isAlone = hasOwnDisk(tree);
  const shared = folders.filter((folder) => !hasOwnDisk(folder));
  /** A folder on the disk that others write to, too, if there is one. */
  const place = shared[0] ?? tree;
  const beganAtMs = Date.now();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  let usedAtLook = usedBytes(place);
  let minUsed = usedAtLook;
  let looksPastUnreadable = 0;
  let lookedAtMs = beganAtMs;
  let lookTookMs = 0;
  // a file's time is never late, and at most a step of the clock early, which is less than a sandbox takes to start
  const sizeBefore = measure({ unchangedSinceMs: beganAtMs + 1 });
  sizeBefore.catch(() => undefined);

  async function measure(options: { unchangedSinceMs?: number; enoughBytes?: number }): Promise<number> {
    const { enoughBytes = Infinity } = options;
    let bytes = isAlone ? usedBytes(tree) : 0;
    if (shared.length === 0) return bytes;
    const before = process.threadCpuUsage();
    for (const folder of shared)
      bytes += await sizeOfTree(folder, { ...options, enoughBytes: enoughBytes - bytes, isOver: () => isOver });
    bytes += await heldBytes();
    lookedAtMs = Date.now();
    const { user, system } = process.threadCpuUsage(before);
    lookTookMs = (user + system) / 1000;
    return bytes;
  }

  /**
   * Counts a file that cannot be measured twice in a row as full if the disk has filled by as much. For files in
   * sockets, writing as much is enough: what others delete meanwhile hides that the disk has filled.
   */
  async function heldBytes(): Promise<number> {
    minUsed = Math.min(minUsed, usedBytes(place));
    const pid = firstPid();
    if (pid === null) return 0;
    const { bytes, unreadable, inSockets, written } = await heldFiles(pid, place, () => isOver);
    const added = Math.max(usedBytes(place) - minUsed, inSockets > 0 ? written : 0);
    const mayBeFull = unreadable > 0 && added >= limits.diskBytes;
    looksPastUnreadable = mayBeFull ? looksPastUnreadable + 1 : 0;
    return bytes + (looksPastUnreadable > 1 ? unreadable * limits.diskBytes : 0);
  }

  const hasFilled = () => usedBytes(place) - usedAtLook >= limits.diskBytes;

  async function hasGrown(): Promise<boolean> {
    if (isAlone && isDiskFull(tree)) return true;
    const enoughBytes = Math.min((await sizeBefore) + limits.diskBytes, limits.totalBytes ?? Infinity);
    usedAtLook = usedBytes(place);
    return (await measure({ enoughBytes })) >= enoughBytes;
  }

  async function isOverMemory(): Promise<boolean> {
    if (group !== null) return await group.hasOverrun();
    const pid = firstPid();
    return pid !== null && (await memoryOf(pid)) > limits.memoryBytes;
  }

  async function excess(): Promise<Excess | null> {
    if (await isOverMemory()) return 'memory';
    const isDue = Date.now() - lookedAtMs > Math.max(everyMs, restFactor * lookTookMs);
    return (isDue || hasFilled()) && (await hasGrown()) ? 'disk' : null;
  }

  function lookLater(): void {
    timer = setTimeout(async () => {
      const found = await excess().catch(() => null);
      if (isOver) return;
      if (found === null) lookLater();
      else onExcess(found);
    }, everyMs);
  }

  lookLater();
  return {
    /** Takes the last measurement, once all processes of the command have ended. */
    async lastLook(): Promise<Excess | null> {
      clearTimeout(timer);
      if (group !== null && (await group.hasOverrun())) return 'memory';
      const isBrief = shared.length > 0 && Date.now() - beganAtMs < briefMs;
      return (!isBrief || hasFilled()) && (await hasGrown()) ? 'disk' : null;
    },
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
