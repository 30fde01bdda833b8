import { memoryOf } from './processes.ts';
import type { SandboxLimits } from './profile.ts';
import { hasWritten, usedBytes } from './tree.ts';

export type Excess = 'memory' | 'disk';

export interface WatchedCommand {
  tree: string;
  limits: SandboxLimits;
  /** The first process inside; null while there is none. */
  firstPid(): number | null;
  /** Called once, when the command has more than its limits. */
  onExcess(excess: Excess): void;
}

const everyMs = 100;
/** What the whole disk may fill meanwhile, as a multiple of what one command may write. */
const othersShare = 4;

/**
 * Looks at what a command uses until it is disposed of. The tree is looked through only when its file system has filled by as much
 * as the command may write; a disk that fills much faster than that ends it without a look.
 */
export function watchCommand({ tree, limits, firstPid, onExcess }: WatchedCommand): Disposable {
  const usedBefore = usedBytes(tree);
  usedBefore.catch(() => undefined);
  const beganAtMs = Date.now();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  async function excess(): Promise<Excess | null> {
    const pid = firstPid();
    if (pid !== null && (await memoryOf(pid)) > limits.memoryBytes) return 'memory';
    const filled = (await usedBytes(tree)) - (await usedBefore);
    if (filled > othersShare * limits.diskBytes) return 'disk';
    if (filled < limits.diskBytes) return null;
    return (await hasWritten(tree, { bytes: limits.diskBytes, sinceMs: beganAtMs })) ? 'disk' : null;
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
    [Symbol.dispose]() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
