/**
 * Reports when the event loop was blocked: no timer ran for longer than `heldMs`, and the thread itself used the
 * processor for as long. Time in which the machine ran something else does not count.
 */
export function watchEventLoop({
  heldMs,
  onHeld,
  onLook,
}: {
  heldMs: number;
  onHeld: (hold: { cpuMs: number }) => void;
  /** Called after each check. */
  onLook?: () => void;
}): Disposable {
  let lookedAt = performance.now();
  let used = process.threadCpuUsage();
  const timer = setInterval(() => {
    const now = performance.now();
    const { user, system } = process.threadCpuUsage(used);
    const cpuMs = (user + system) / 1_000;
    if (now - lookedAt > heldMs && cpuMs > heldMs) onHeld({ cpuMs });
    onLook?.();
    lookedAt = performance.now();
    used = process.threadCpuUsage();
  }, lookEveryMs);
  timer.unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Interval between checks. Up to this much time before a block may be counted with it. */
const lookEveryMs = 10;
