/** Items in flight in a process, such as its requests. */
export interface InFlight<Item> {
  /** Adds an item; returns the function that removes it. */
  add(item: Item): () => void;
  /** Returns the items, in any order. */
  list(): Item[];
}

/**
 * Creates an empty list of items in flight. A Map or Set would leak for a while: it is copied to a new table every few
 * dozen items, and the old table keeps references to its items and to the new table. Once V8 moves an old table to the
 * old generation, all later tables and their items survive until the next full garbage collection.
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
