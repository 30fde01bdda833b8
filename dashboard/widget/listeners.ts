/** Creates the list of those who want to hear of a change, for `useSyncExternalStore`. */
export function createListeners() {
  const listeners = new Set<() => void>();
  return {
    /** Adds a listener. Returns a function that removes it. */
    add(listener: () => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    call(): void {
      for (const listener of listeners) listener();
    },
  };
}
