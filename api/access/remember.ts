/** Time for which the API caches what it looks up for a request. A change takes effect within this time. */
export const freshMs = 3_000;
const mostEntries = 10_000;

/** Adds an entry to a cache and evicts the oldest one when it is full. */
export function remember<Value>(cache: Map<string, Value>, key: string, value: Value): void {
  cache.delete(key);
  cache.set(key, value);
  const [oldest] = cache.keys();
  if (cache.size > mostEntries && oldest !== undefined) cache.delete(oldest);
}
