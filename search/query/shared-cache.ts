/** A cache of the data that open indexes have read. */
export interface SharedCache<Key, Value> {
  get(index: object, key: Key): Value | undefined;
  set(index: object, key: Key, value: Value): void;
}

/**
 * Creates a cache that all open indexes of a thread share, so that it does not grow with their number. It is emptied
 * once the total weight of its entries exceeds `maxWeight`. Entries of a closed index are garbage-collected with the
 * index.
 */
export function createSharedCache<Key, Value>(
  maxWeight: number,
  weigh: (value: Value) => number = () => 1,
): SharedCache<Key, Value> {
  let entries = new WeakMap<object, Map<Key, Value>>();
  let weight = 0;
  return {
    get: (index, key) => entries.get(index)?.get(key),
    set(index, key, value) {
      weight += weigh(value);
      if (weight > maxWeight) {
        entries = new WeakMap();
        weight = weigh(value);
      }
      const own = entries.get(index) ?? new Map<Key, Value>();
      entries.set(index, own.set(key, value));
    },
  };
}
