/** Time for which the API caches what it looks up for a request. A change takes effect within this time. */
export const freshMs = 3_000;
