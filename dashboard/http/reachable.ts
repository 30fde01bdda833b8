import { createListeners } from '../widget/listeners.ts';
import { api } from './client.ts';

/** Whether requests reach the server. A silent one takes them and does not respond. */
export type Reach = 'reached' | 'silent' | 'lost';

const askAgainMs = 2_000;
/** Longer than any request takes of a server that works. */
const silentAfterMs = 10_000;
const listeners = createListeners();
/** Requests without a response, and the timers that end the patience with them; null once it has ended. */
const open = new Map<string, ReturnType<typeof setTimeout> | null>();
let isLost = false;

/** Returns whether the server responds, by the last requests. */
export function reachOfServer(): Reach {
  if (isLost) return 'lost';
  return [...open.values()].includes(null) ? 'silent' : 'reached';
}

/** Calls back when the server is lost, silent or found again. Returns a function that ends this. */
export const onReachChange = listeners.add;

/** Notes whether a request reached the server. */
export function noteReached(isReached: boolean): void {
  if (isReached !== isLost) return;
  isLost = !isReached;
  listeners.call();
  if (isLost) askAgain();
}

function askAgain(): void {
  setTimeout(() => {
    fetch('/healthz', { cache: 'no-store' }).then(() => noteReached(true), askAgain);
  }, askAgainMs);
}

function noteEnd(id: string): void {
  clearTimeout(open.get(id) ?? undefined);
  open.delete(id);
  listeners.call();
}

// a browser on this machine reaches Docket without a network, so only requests tell
api.use({
  onRequest({ id }) {
    const markSilent = () => {
      open.set(id, null);
      listeners.call();
    };
    open.set(id, setTimeout(markSilent, silentAfterMs));
  },
  onResponse({ id }) {
    noteEnd(id);
    noteReached(true);
  },
  onError({ id, error }) {
    noteEnd(id);
    // an aborted request says nothing about the server
    if (error instanceof TypeError) noteReached(false);
  },
});
