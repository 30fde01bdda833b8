/** A task was rejected or stopped: too many were waiting, or it took too long. */
export class ThreadQueueError extends Error {
  override name = 'ThreadQueueError';
}

interface Waiting {
  /** Whose task it is. Tasks without an owner share one holder. */
  holder: string;
  reject(error: Error): void;
}

/**
 * Creates a queue in which the holders take turns, so that many tasks of one delay those of another by one each. When
 * more than `maxSize` wait, the newest task of the holder with the most tasks is rejected.
 */
export function createFairQueue<Entry extends Waiting>(maxSize: number) {
  /** The entries of each holder in order; the holder whose turn is next comes first. */
  const queues = new Map<string, Entry[]>();
  let size = 0;

  function shorten(entries: Entry[], at: number): Entry | undefined {
    const [entry] = entries.splice(at, 1);
    if (entry === undefined) return undefined;
    size -= 1;
    if (entries.length === 0) queues.delete(entry.holder);
    return entry;
  }

  return {
    get size() {
      return size;
    },
    /** Adds an entry. If the queue is full, it rejects one with ThreadQueueError. */
    add(entry: Entry): void {
      const own = queues.get(entry.holder) ?? [];
      queues.set(entry.holder, own);
      own.push(entry);
      size += 1;
      if (size <= maxSize) return;
      const longest = [...queues.values()].reduce((a, b) => (b.length > a.length ? b : a));
      shorten(longest, longest.length - 1)?.reject(new ThreadQueueError('Too many tasks are waiting for a thread.'));
    },
    /** Removes and returns the next entry; undefined when there is none. */
    take(): Entry | undefined {
      const [next] = queues.values();
      const entry = next && shorten(next, 0);
      if (entry === undefined || !queues.has(entry.holder)) return entry;
      queues.delete(entry.holder);
      queues.set(entry.holder, next ?? []);
      return entry;
    },
    /** Removes an entry that no longer waits. */
    remove(entry: Entry): void {
      const own = queues.get(entry.holder) ?? [];
      const at = own.indexOf(entry);
      if (at !== -1) shorten(own, at);
    },
  };
}
