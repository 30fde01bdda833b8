/** An answer that cannot be resumed. */
export const interrupted = 'The answer was interrupted. Ask again.';

export const unreachable = 'The assistant cannot be reached. Check your connection and ask again.';
/** Delays before a broken connection is resumed: together two minutes, for which the server continues the answer. */
const delaysMs = [300, 1_000, 3_000, 6_000, 10_000, 15_000, 25_000, 60_000];

/**
 * Yields a wait before each attempt to resume a broken connection, and null when there is none left. A wait ends early
 * when the browser is online again, and when it is aborted.
 */
export function* resumeWaits(): Generator<((aborted: AbortSignal) => Promise<void>) | null, void> {
  for (const delayMs of delaysMs) yield (aborted) => waitForNetwork(delayMs, aborted);
  yield null;
}

async function waitForNetwork(delayMs: number, aborted: AbortSignal): Promise<void> {
  const waiting = new AbortController();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, delayMs);
    const options = { signal: waiting.signal };
    // Node has no such event
    globalThis.addEventListener?.('online', () => resolve(), options);
    aborted.addEventListener('abort', () => resolve(), options);
    waiting.signal.addEventListener('abort', () => clearTimeout(timer));
  });
  waiting.abort();
}
