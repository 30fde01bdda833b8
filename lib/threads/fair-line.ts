/** A task was rejected or stopped: too many were waiting, or it took too long. */
export class ThreadQueueError extends Error {
  override name = 'ThreadQueueError';
}

interface Waiting {
  /** Whose task it is. Tasks of nobody in particular have one holder, too. */
  holder: string;
  reject(error: Error): void;
}

/**
 * Creates a line in which the holders take turns, so that many tasks of one delay those of another by one each. When
 * more than `maxSize` wait, the newest of the holder with the most leaves.
 */
export function createFairLine<Entry extends Waiting>(maxSize: number) {
  /** The entries of each holder in order; the holder whose turn is next comes first. */
  const lines = new Map<string, Entry[]>();
  let size = 0;

  function shorten(entries: Entry[], at: number): Entry | undefined {
    const [entry] = entries.splice(at, 1);
    if (entry === undefined) return undefined;
    size -= 1;
    if (entries.length === 0) lines.delete(entry.holder);
    return entry;
  }

  return {
    get size() {
      return size;
    },
    /** Adds an entry. The one that has to leave is rejected with ThreadQueueError. */
    add(entry: Entry): void {
      const own = lines.get(entry.holder) ?? [];
      lines.set(entry.holder, own);
      own.push(entry);
      size += 1;
      if (size <= maxSize) return;
      const longest = [...lines.values()].reduce((one, other) => (other.length > one.length ? other : one));
      shorten(longest, longest.length - 1)?.reject(new ThreadQueueError('Too many tasks are waiting for a thread.'));
    },
    /** Removes and returns the next entry; undefined when there is none. */
    take(): Entry | undefined {
      const [next] = lines.values();
      const entry = next && shorten(next, 0);
      if (entry === undefined || !lines.has(entry.holder)) return entry;
      lines.delete(entry.holder);
      lines.set(entry.holder, next ?? []);
      return entry;
    },
    /** Removes an entry that no longer waits. */
    remove(entry: Entry): void {
      const own = lines.get(entry.holder) ?? [];
      const at = own.indexOf(entry);
      if (at !== -1) shorten(own, at);
    },
  };
}
