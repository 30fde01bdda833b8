/** Items in flight in a process, such as its requests. */
export interface InFlight<Item> {
  /** Adds an item; returns the function that removes it. */
  add(item: Item): () => void;
  /** Returns the items, in any order. */
  list(): Item[];
}

/**
 * Creates an empty list of what is in flight. A Map or Set would not do: it is copied to a new table every few dozen
 * items, and the old one keeps pointing to the items and to the new one. Once V8 takes an old table for long-lived, each
 * later table and its items survive, too, until the next full garbage collection.
 */
export function createInFlight<Item>(): InFlight<Item> {
  const entries: { item: Item; index: number }[] = [];
  return {
    add(item) {
      const entry = { item, index: entries.length };
      entries.push(entry);
      return () => {
        if (entries[entry.index] !== entry) return;
        const last = entries.pop();
        if (last === undefined || last === entry) return;
        last.index = entry.index;
        entries[entry.index] = last;
      };
    },
    list: () => entries.map(({ item }) => item),
  };
}
