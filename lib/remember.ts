/** Adds an entry to a cache of at most `maxSize` entries; the one that was added first makes room. */
export function remember<Key, Value>(cache: Map<Key, Value>, key: Key, value: Value, maxSize = 10_000): void {
  cache.delete(key);
  cache.set(key, value);
  const [oldest] = cache.keys();
  if (cache.size > maxSize && oldest !== undefined) cache.delete(oldest);
}
