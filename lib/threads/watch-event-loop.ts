/**
 * Reports when the event loop was blocked: no timer ran for longer than `blockedMs`, and the thread itself used the
 * processor for as long. Time in which the machine ran something else does not count.
 */
export function watchEventLoop({
  blockedMs,
  onBlocked,
  onTick,
}: {
  blockedMs: number;
  onBlocked: (block: { cpuMs: number }) => void;
  /** Called after each check. */
  onTick?: () => void;
}): Disposable {
  let tickedAt = performance.now();
  let used = process.threadCpuUsage();
  const timer = setInterval(() => {
    const now = performance.now();
    const { user, system } = process.threadCpuUsage(used);
    const cpuMs = (user + system) / 1_000;
    if (now - tickedAt > blockedMs && cpuMs > blockedMs) onBlocked({ cpuMs });
    onTick?.();
    tickedAt = performance.now();
    used = process.threadCpuUsage();
  }, tickMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Interval between checks. Up to this much time before a block may be counted with it. */
const tickMs = 10;
