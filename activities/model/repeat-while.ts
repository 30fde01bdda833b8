/**
 * Makes what begins to do some work every so often, one time after another, until it is not needed any more; the first time comes
 * after one interval. A failure is left to the next time. It does not keep a process from ending.
 */
export function repeatWhile(isNeeded: () => boolean, work: () => Promise<void>, everyMs: number): () => void {
  let isGoingOn = false;
  return function begin(): void {
    if (isGoingOn) return;
    isGoingOn = true;
    setTimeout(async () => {
      if (isNeeded()) await work().catch(() => undefined);
      isGoingOn = false;
      if (isNeeded()) begin();
    }, everyMs).unref();
  };
}
