import { AsyncLocalStorage } from 'node:async_hooks';

interface Lookup<Key, Row> {
  key: Key;
  resolve(row: Row | null): void;
  reject(error: unknown): void;
}

/**
 * Collects the lookups of one event-loop turn, so that `loadMany` runs once for all of them. A row has the fields of its
 * key. A serial loader also collects lookups while a query runs, so that all callers together use one connection.
 */
export function createBatchLoader<Key, Row extends Key>({
  keyOf,
  loadMany,
  isSerial = false,
}: {
  keyOf: (key: Key) => string;
  loadMany: (keys: Key[]) => Promise<Row[]>;
  isSerial?: boolean;
}) {
  let waiting: Lookup<Key, Row>[] = [];
  let isLoading = false;
  // the lookup is for several requests, not for the one that happened to be first
  const forAll = AsyncLocalStorage.snapshot();

  function load(key: Key): Promise<Row | null> {
    // requests that arrived together are read from their sockets before the next setImmediate
    if (waiting.length === 0 && !(isSerial && isLoading)) setImmediate(() => forAll(settle));
    return new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject });
    });
  }

  async function settle(): Promise<void> {
    const lookups = waiting;
    waiting = [];
    isLoading = true;
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
    isLoading = false;
    if (isSerial && waiting.length > 0) setImmediate(settle);
  }

  return { load };
}
