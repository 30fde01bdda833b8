import { AsyncLocalStorage } from 'node:async_hooks';

interface Lookup<Key, Row> {
  key: Key;
  resolve(row: Row | null): void;
  reject(error: unknown): void;
}

/** Collects the lookups of one event-loop turn, so that `loadMany` is asked once for all of them. A row has the fields of its key. */
export function createBatchLoader<Key, Row extends Key>({
  keyOf,
  loadMany,
}: {
  keyOf: (key: Key) => string;
  loadMany: (keys: Key[]) => Promise<Row[]>;
}) {
  let waiting: Lookup<Key, Row>[] = [];
  // the lookup is for several requests, not for the one that happened to be first
  const forAll = AsyncLocalStorage.snapshot();

  function load(key: Key): Promise<Row | null> {
    // requests that arrived together are read from their sockets before the next setImmediate
    if (waiting.length === 0) setImmediate(() => forAll(settle));
    return new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
    });
  }

  async function settle(): Promise<void> {
    const lookups = waiting;
    waiting = [];
    try {
      const asked = new Map<string, Key>();
      for (const { key } of lookups) asked.set(keyOf(key), key);
      const rows = await loadMany([...asked.values()]);
      const byKey = new Map<string, Row>();
      for (const row of rows) byKey.set(keyOf(row), row);
      for (const { key, resolve } of lookups) resolve(byKey.get(keyOf(key)) ?? null);
    } catch (error) {
      for (const { reject } of lookups) reject(error);
    }
  }

  return { load };
}
