/** Collects the lookups of one event-loop turn, so that `loadMany` is asked once for all of them. */
export function createByIdLoader<Row extends { id: string }>(loadMany: (ids: string[]) => Promise<Row[]>) {
  let waiting: Map<string, PromiseWithResolvers<Row | null>> | null = null;

  function load(id: string): Promise<Row | null> {
    waiting ??= openBatch();
    const known = waiting.get(id);
    if (known !== undefined) return known.promise;
    const lookup = Promise.withResolvers<Row | null>();
    waiting.set(id, lookup);
    return lookup.promise;
  }

  function openBatch() {
    const batch = new Map<string, PromiseWithResolvers<Row | null>>();
    // requests that arrived together are read from their sockets before the next setImmediate
    setImmediate(() => {
      waiting = null;
      void settle(batch);
    });
    return batch;
  }

  async function settle(batch: Map<string, PromiseWithResolvers<Row | null>>): Promise<void> {
    try {
      const rows = await loadMany([...batch.keys()]);
      const byId = new Map(rows.map((row) => [row.id, row]));
      for (const [id, lookup] of batch) lookup.resolve(byId.get(id) ?? null);
    } catch (error) {
      for (const lookup of batch.values()) lookup.reject(error);
    }
  }

  return { load };
}
