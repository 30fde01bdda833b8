import { setImmediate as nextTurn } from 'node:timers/promises';

/** Number of entries per turn of the event loop. */
const entriesPerTurn = 1_000;

/**
 * Yields the NUL-terminated entries of a git listing in batches. The last entry may be truncated. Names need not be
 * valid UTF-8: in `latin1`, each byte is one character, and different names stay different.
 */
export async function* listedEntries(
  list: Buffer,
  signal: AbortSignal,
  encoding: 'utf8' | 'latin1' = 'utf8',
): AsyncGenerator<string[]> {
  let start = 0;
  while (start < list.length) {
    const entries: string[] = [];
    while (start < list.length && entries.length < entriesPerTurn) {
      const found = list.indexOf(0, start);
      const end = found === -1 ? list.length : found;
      entries.push(list.toString(encoding, start, end));
      start = end + 1;
    }
    yield entries;
    await nextTurn(undefined, { signal });
  }
}
