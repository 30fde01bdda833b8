import { AsyncLocalStorage } from 'node:async_hooks';

interface Lookup<Key, Row> {
  key: Key;
  resolve(row: Row | null): void;
  reject(error: unknown): void;
}

/**
 * Collects the lookups of one event-loop turn, so that `loadMany` runs once for all of them. A row has the fields of its
 * key. While `atOnce` queries run, it collects further lookups, so that all callers together use as many connections.
 */
export function createBatchLoader<Key, Row extends Key>({
  keyOf,
  loadMany,
  atOnce = Infinity,
}: {
  keyOf: (key: Key) => string;
  loadMany: (keys: Key[]) => Promise<Row[]>;
  atOnce?: number;
}) {
  let waiting: Lookup<Key, Row>[] = [];
  let running = 0;
  // the lookup is for several requests, not for the one that happened to be first
  const forAll = AsyncLocalStorage.snapshot();

  function load(key: Key): Promise<Row | null> {
    if (waiting.length === 0 && running < atOnce) settleSoon();
    return new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
    });
  }

  function settleSoon(): void {
    // requests that arrived together are read from their sockets before the next setImmediate
    setImmediate(() => forAll(settle));
  }

  async function settle(): Promise<void> {
    const lookups = waiting;
    waiting = [];
    running += 1;
    try {
      const keys = new Map<string, Key>();
      for (const { key } of lookups) keys.set(keyOf(key), key);
      const rows = await loadMany([...keys.values()]);
      const byKey = new Map<string, Row>();
      for (const row of rows) byKey.set(keyOf(row), row);
      for (const { key, resolve } of lookups) resolve(byKey.get(keyOf(key)) ?? null);
    } catch (error) {
      for (const { reject } of lookups) reject(error);
    }
    running -= 1;
    // when fewer were running, the first of these lookups has already caused its query
    if (running === atOnce - 1 && waiting.length > 0) settleSoon();
  }

  return { load };
}
