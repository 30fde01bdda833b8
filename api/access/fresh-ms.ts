/** Time for which the API caches what it looks up for a request. A change takes effect within this time. */
export const freshMs = 3_000;

/** Returns milliseconds that only grow: if the clock is set back by an hour, what is cached does not stay fresh for one. */
export const steadyNow = () => performance.now();
