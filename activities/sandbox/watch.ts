import { heldFiles } from './held-files.ts';
import type { MemoryGroup } from './memory-group.ts';
import { memoryOf } from './processes.ts';
import type { SandboxLimits } from './profile.ts';
import { hasOwnDisk } from '../workspaces/own-disk.ts';
import { isDiskFull, sizeOfTree, usedBytes } from './tree.ts';

export type Excess = 'memory' | 'disk';

export interface WatchedCommand {
  tree: string;
  limits: SandboxLimits;
  /** The kernel's own limit on memory; null: what the processes have is counted. */
  group: MemoryGroup | null;
  /** The first process inside; null while there is none. */
  firstPid(): number | null;
  /** Called once, when the command has more than its limits. */
  onExcess(excess: Excess): void;
}

export interface CommandWatch extends Disposable {
  /** The last look, once all processes of the command have ended. */
  lastLook(): Promise<Excess | null>;
}

const everyMs = 100;
/** Looking through the tree takes a tenth of a processor at most, as long as the disk does not fill. */
const restFactor = 9;
/** What a command has written in less time shows in the use of the disk, but for what others have removed meanwhile. */
const briefMs = 1_000;
/** A step of the clock of a file system: what the worker wrote a moment ago counts as the command's. */
const clockStepMs = 20;

/**
 * Looks at what a command uses until it is disposed of. Its tree is measured before it begins and then again and again, sooner when the
 * file system fills: by whom does not matter, as only the tree, and the files without a name that its processes hold, tell what the
 * command has written. A tree with a disk of its own is measured by the use of that disk.
 */
export function watchCommand({ tree, limits, group, firstPid, onExcess }: WatchedCommand): CommandWatch {
  const isAlone = hasOwnDisk(tree);
  const beganAtMs = Date.now();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  let usedAtLook = usedBytes(tree);
  let leastUsed = usedAtLook;
  let looksPastUnreadable = 0;
  let lookedAtMs = beganAtMs;
  let lookTookMs = 0;
  const sizeBefore = measure({ unchangedSinceMs: beganAtMs - clockStepMs });
  sizeBefore.catch(() => undefined);

  async function measure(options: { unchangedSinceMs?: number; enoughBytes?: number }): Promise<number> {
    if (isAlone) return usedBytes(tree);
    const before = process.threadCpuUsage();
    const size = await sizeOfTree(tree, { ...options, isOver: () => isOver });
    const bytes = size + (await heldBytes());
    lookedAtMs = Date.now();
    const { user, system } = process.threadCpuUsage(before);
    lookTookMs = (user + system) / 1000;
    return bytes;
  }

  /**
   * Counts a file that cannot be measured at two looks in a row as full if the disk has filled by as much. For files in
   * sockets, writing as much is enough: what others delete meanwhile hides that the disk has filled.
   */
  async function heldBytes(): Promise<number> {
    leastUsed = Math.min(leastUsed, usedBytes(tree));
    const pid = firstPid();
    if (pid === null) return 0;
    const { bytes, unreadable, inSockets, written } = await heldFiles(pid, tree, () => isOver);
    const added = Math.max(usedBytes(tree) - leastUsed, inSockets > 0 ? written : 0);
    const mayBeFull = unreadable > 0 && added >= limits.diskBytes;
    looksPastUnreadable = mayBeFull ? looksPastUnreadable + 1 : 0;
    return bytes + (looksPastUnreadable > 1 ? unreadable * limits.diskBytes : 0);
  }

  const hasFilled = () => usedBytes(tree) - usedAtLook >= limits.diskBytes;

  async function hasGrown(): Promise<boolean> {
    if (isAlone && isDiskFull(tree)) return true;
    const enoughBytes = (await sizeBefore) + limits.diskBytes;
    usedAtLook = usedBytes(tree);
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
    async lastLook() {
      clearTimeout(timer);
      if (group !== null && (await group.hasOverrun())) return 'memory';
      const isBrief = !isAlone && Date.now() - beganAtMs < briefMs;
      return (!isBrief || hasFilled()) && (await hasGrown()) ? 'disk' : null;
    },
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
