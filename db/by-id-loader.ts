import { AsyncLocalStorage } from 'node:async_hooks';

interface Lookup<Row> {
  id: string;
  resolve(row: Row | null): void;
  reject(error: unknown): void;
}

/** Collects the lookups of one event-loop turn, so that `loadMany` is asked once for all of them. */
export function createByIdLoader<Row extends { id: string }>(loadMany: (ids: string[]) => Promise<Row[]>) {
  let waiting: Lookup<Row>[] = [];
  // the lookup is for several requests, not for the one that happened to be first
  const forAll = AsyncLocalStorage.snapshot();

  function load(id: string): Promise<Row | null> {
    // requests that arrived together are read from their sockets before the next setImmediate
    if (waiting.length === 0) setImmediate(() => forAll(settle));
    return new Promise((resolve, reject) => {
      waiting.push({ id, resolve, reject });
    });
  }

  async function settle(): Promise<void> {
    const lookups = waiting;
    waiting = [];
    try {
      const rows = await loadMany([...new Set(lookups.map(({ id }) => id))]);
      const byId = new Map<string, Row>();
      for (const row of rows) byId.set(row.id, row);
      for (const { id, resolve } of lookups) resolve(byId.get(id) ?? null);
    } catch (error) {
      for (const { reject } of lookups) reject(error);
    }
  }

  return { load };
}
