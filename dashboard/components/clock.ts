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
 * Rounds a time down to steps of a second, or of ten from a minute after `since` on. These are steps of the age: with those
 * of the clock, what is older than a minute could look younger than what is not.
 */
export function inSteps(at: number, since: number): number {
  const age = at - since;
  return age > 60_000 ? at - (age % 10_000) : Math.floor(at / 1_000) * 1_000;
}

/** Returns the time in milliseconds since 1970, in the steps of `inSteps`. It stands still unless `isRunning`. */
export function useClock({ isRunning = true, since = Infinity } = {}): number {
  const read = () => inSteps(now, since);
  return useSyncExternalStore(isRunning ? subscribe : never, read, read);
}
