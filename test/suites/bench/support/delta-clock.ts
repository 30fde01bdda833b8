const tickMs = 1;
const digits = 9;

/** Milliseconds of a clock that all processes of the machine share. */
export function sharedNowMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

/** The time at which a delta was due, as part of its text. */
export function dueMark(dueMs: number): string {
  return `@${String(Math.floor(dueMs) % 10 ** digits).padStart(digits, '0')} `;
}

/** The delay of each marked delta in a piece of output. */
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
  everyMs: number;
  dueMs: number;
  isStopped: boolean;
  next(dueMs: number): boolean;
}

/**
 * Calls back at a fixed interval even if the receiver is slow: calls that came due while the event loop was busy are
 * made at once, as with data on a socket. All receivers share one timer.
 */
export function createDeltaClock() {
  /** By the millisecond in which they are due. */
  const due = new Map<number, Ticking[]>();
  let timer: NodeJS.Timeout | null = null;
  let lookedMs = 0;

  function put(ticking: Ticking): void {
    const slot = Math.max(Math.ceil(ticking.dueMs), lookedMs + 1);
    const known = due.get(slot);
    if (known === undefined) due.set(slot, [ticking]);
    else known.push(ticking);
  }

  function tick(): void {
    const now = Math.floor(sharedNowMs());
    const from = lookedMs;
    lookedMs = now;
    for (let slot = from + 1; slot <= now; slot += 1) {
      const tickings = due.get(slot) ?? [];
      due.delete(slot);
      for (const ticking of tickings) if (catchUp(ticking, now)) put(ticking);
    }
    timer = due.size === 0 ? null : setTimeout(tick, tickMs);
  }

  return {
    /** Calls `next` with its due time until it returns false. Returns the function that stops it. */
    add(everyMs: number, next: (dueMs: number) => boolean): () => void {
      const now = sharedNowMs();
      const ticking: Ticking = { everyMs, dueMs: now + everyMs, isStopped: false, next };
      if (timer === null) {
        lookedMs = Math.floor(now);
        timer = setTimeout(tick, tickMs);
      }
      put(ticking);
      return () => {
        ticking.isStopped = true;
      };
    },
  };
}

/** Delivers everything that is due; false when no more will follow. */
function catchUp(ticking: Ticking, now: number): boolean {
  while (ticking.dueMs <= now) {
    if (ticking.isStopped || !ticking.next(ticking.dueMs)) return false;
    ticking.dueMs += ticking.everyMs;
  }
  return true;
}
