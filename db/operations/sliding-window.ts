/** A counter with two buckets as wide as the window: the running one and the previous one. */
export interface SlidingWindow {
  quota: number;
  widthSeconds: number;
  current: number;
  previous: number;
  /** Elapsed share of the running bucket. */
  elapsedSeconds: number;
}

/**
 * Returns the used amount: all of the running bucket, and the share of the previous one that the window still covers.
 */
export function usedOf({ current, previous, elapsedSeconds, widthSeconds }: SlidingWindow): number {
  return current + previous * (1 - elapsedSeconds / widthSeconds);
}

/** Reports whether one more fits. The statement in rate-limits.ts decides by the same sum. */
export function fitsOneMore(window: SlidingWindow): boolean {
  return usedOf(window) + 1 <= window.quota;
}

/** Returns how many more fit now. */
export function remainingOf(window: SlidingWindow): number {
  return Math.max(0, Math.floor(window.quota - usedOf(window)));
}

/**
 * Returns the whole seconds until one more fits if none is taken; while one fits, until the running bucket ends. At
 * least 1.
 */
export function resetSecondsOf(window: SlidingWindow): number {
  const { quota, widthSeconds, current, previous, elapsedSeconds } = window;
  const bucketEnds = widthSeconds - elapsedSeconds;
  const wait = () => {
    if (fitsOneMore(window)) return bucketEnds;
    // the weight at which the older bucket leaves room for one more
    if (current + 1 <= quota) return widthSeconds * (1 - (quota - 1 - current) / previous) - elapsedSeconds;
    if (quota < 1) return bucketEnds + widthSeconds;
    return bucketEnds + widthSeconds * (1 - (quota - 1) / current);
  };
  // binary fractions may end slightly above a whole second
  return Math.max(1, Math.ceil(wait() - 1e-6));
}
