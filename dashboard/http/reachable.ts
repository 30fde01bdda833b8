import { api } from './client.ts';

const askAgainMs = 2_000;
const listeners = new Set<() => void>();
let isReachable = true;

/** Reports whether the last request reached the server. */
export function serverIsReachable(): boolean {
  return isReachable;
}

/** Calls back when the server is lost or found again. Returns a function that ends this. */
export function onReachableChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Notes whether a request reached the server. */
export function noteReached(reached: boolean): void {
  if (reached === isReachable) return;
  isReachable = reached;
  for (const listener of listeners) listener();
  if (!reached) askAgain();
}

function askAgain(): void {
  setTimeout(() => {
    fetch('/healthz', { cache: 'no-store' }).then(() => noteReached(true), askAgain);
  }, askAgainMs);
}

// a browser on this machine reaches Docket without a network, so only requests tell
api.use({
  onResponse: () => noteReached(true),
  onError({ error }) {
    // an aborted request says nothing about the server
    if (error instanceof TypeError) noteReached(false);
  },
});
