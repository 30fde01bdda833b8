/** A cache of the data that open indexes have read. */
export interface SharedCache<Key, Value> {
  get(index: object, key: Key): Value | undefined;
  set(index: object, key: Key, value: Value): void;
}

/**
 * Creates a cache that all open indexes of a thread share, so that it does not grow with their number. Once its entries
 * weigh more than `maxWeight` together, it is emptied. Those of an index that was closed are collected with it.
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
