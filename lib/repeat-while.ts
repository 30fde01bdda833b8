/**
 * Creates a function that starts periodic work, one run after another, until it is no longer needed. The first run is
 * after one interval. A failed run is repeated after the next interval. The timer does not keep a process alive.
 */
export function repeatWhile(isNeeded: () => boolean, work: () => Promise<void>, everyMs: number): () => void {
  let isGoingOn = false;
  return function start(): void {
    if (isGoingOn) return;
    isGoingOn = true;
    setTimeout(async () => {
      if (isNeeded()) await work().catch(() => undefined);
      isGoingOn = false;
      if (isNeeded()) start();
    }, everyMs).unref();
  };
}
