import { useSyncExternalStore } from 'react';

const everyMs = 1_000;
const listeners = new Set<() => void>();
let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}

/** All that shows a running time shares one timer, which stops with the last of them. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    now = Date.now();
    timer = setInterval(tick, everyMs);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

const never = () => () => undefined;

/**
 * Returns the time in milliseconds since 1970, in steps of a second, or of ten from a minute after `since` on. It stands
 * still unless `isRunning`.
 */
export function useClock({ isRunning = true, since = Infinity } = {}): number {
  const read = () => {
    const age = now - since;
    // steps of the age: with those of the clock, what is older than a minute could look younger than what is not
    return age > 60_000 ? now - (age % 10_000) : Math.floor(now / 1_000) * 1_000;
  };
  return useSyncExternalStore(isRunning ? subscribe : never, read, read);
}
