const tickMs = 1;
const digits = 9;

/** Milliseconds of a clock that all processes of the machine share. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** When a delta was due, as a part of its text. */
export function dueMark(dueMs: number): string {
  return `@${String(Math.floor(dueMs) % 10 ** digits).padStart(digits, '0')} `;
}

/** How late each marked delta of a piece of output is. */
export function lagsOf(output: string, nowMs: number): number[] {
  const lags: number[] = [];
  const now = nowMs % 10 ** digits;
  for (let at = output.indexOf('@'); at >= 0; at = output.indexOf('@', at + 1)) {
    const mark = output.slice(at + 1, at + 1 + digits);
    if (/^\d{9}$/.test(mark)) lags.push(now - Number(mark));
  }
  return lags;
}

interface Ticking {
  dueMs: number;
  isStopped: boolean;
  next(dueMs: number): boolean;
}

/**
 * Calls back at a fixed rhythm, whether anybody is ready or not: what fell due while the event loop was busy is handed over
 * in one go, as a socket does it. One timer for all.
 */
export function createDeltaClock() {
  // all of one rhythm stand in the order in which they are due
  const queues = new Map<number, Ticking[]>();
  let timer: NodeJS.Timeout | null = null;

  function tick(): void {
    const now = sharedNowMs();
    let isIdle = true;
    for (const [everyMs, queue] of queues) {
      let taken = 0;
      for (let first = queue[taken]; first !== undefined && first.dueMs <= now; first = queue[taken]) {
        taken += 1;
        if (first.isStopped || !first.next(first.dueMs)) continue;
        first.dueMs += everyMs;
        queue.push(first);
      }
      queue.splice(0, taken);
      if (queue.length > 0) isIdle = false;
    }
    timer = isIdle ? null : setTimeout(tick, tickMs);
  }

  return {
    /** Calls `next` with the time it was due until it answers false. Returns the function that ends it. */
    add(everyMs: number, next: (dueMs: number) => boolean): () => void {
      const ticking: Ticking = { dueMs: sharedNowMs() + everyMs, isStopped: false, next };
      const queue = queues.get(everyMs) ?? [];
      queue.push(ticking);
      queues.set(everyMs, queue);
      timer ??= setTimeout(tick, tickMs);
      return () => {
        ticking.isStopped = true;
      };
    },
  };
}
