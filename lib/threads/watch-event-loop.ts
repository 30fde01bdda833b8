/**
 * Tells when something held the event loop: no timer ran for longer than `heldMs`, and the thread itself used the processor
 * for as long. Time in which the machine ran something else does not count.
 */
export function watchEventLoop({
  heldMs,
  onHeld,
  onLook,
}: {
  heldMs: number;
  onHeld: (hold: { cpuMs: number }) => void;
  /** After each look. */
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

/** So much of the time before a hold may count with it. */
const lookEveryMs = 10;
