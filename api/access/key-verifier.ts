import { timingSafeEqual } from 'node:crypto';
import { digestOf, idWithin, parseKey } from '../../db/organizations/key-format.ts';
import type { KeyRow } from '../../db/organizations/keys.ts';
import type { StoredKey } from '../../db/for-service/access.ts';
import { remember } from '../../lib/remember.ts';
import { freshMs, steadyNow } from './fresh-ms.ts';

export interface KeyVerifierDeps {
  findKey: (id: string) => Promise<StoredKey | null>;
  touchKeys: (ids: string[]) => Promise<void>;
  pepper: string;
  now?: () => number;
}

// stands in for the digest of an unknown id, so that known and unknown ids take the same time
const dummyDigest = Buffer.alloc(32);

interface Entry {
  row: StoredKey;
  loadedAt: number;
  /** Key text that has been verified. Most requests repeat it. */
  proven: Uint8Array | null;
}

export type KeyVerifier = ReturnType<typeof createKeyVerifier>;

/** Creates a verifier of keys against stored digests. It queries the store at most once every few seconds per key. */
export function createKeyVerifier({ findKey, touchKeys, pepper, now = steadyNow }: KeyVerifierDeps) {
  const known = new Map<string, Entry>();
  // a separate map, so that a flood of unknown ids does not evict the keys in use
  const missing = new Map<string, { loadedAt: number }>();
  const inFlight = new Map<string, Promise<Entry | null>>();
  let used = new Set<string>();

  function fresh<Kept extends { loadedAt: number }>(kept: Kept | undefined): Kept | null {
    return kept !== undefined && now() - kept.loadedAt < freshMs ? kept : null;
  }

  async function load(id: string): Promise<Entry | null> {
    const loadedAt = now();
    const row = await findKey(id);
    if (row === null) {
      known.delete(id);
      remember(missing, id, { loadedAt });
      return null;
    }
    const entry: Entry = { row, loadedAt, proven: null };
    remember(known, id, entry);
    return entry;
  }

  async function find(id: string): Promise<Entry | null> {
    const entry = fresh(known.get(id));
    if (entry !== null || fresh(missing.get(id)) !== null) return entry;
    const lookup = inFlight.get(id) ?? load(id).finally(() => inFlight.delete(id));
    inFlight.set(id, lookup);
    return lookup;
  }

  /** Returns the row of a recently verified key. The same text needs neither parsing nor a digest. */
  function recall(text: string): StoredKey | null {
    const entry = fresh(known.get(idWithin(text)));
    if (entry === null || entry.proven === null) return null;
    const given = Buffer.from(text);
    return entry.proven.length === given.length && timingSafeEqual(entry.proven, given) ? entry.row : null;
  }

  async function prove(text: string): Promise<StoredKey | null> {
    const parsed = parseKey(text);
    if (parsed === null) return null;
    const entry = await find(parsed.id);
    const hasDigest = timingSafeEqual(digestOf(pepper, parsed.secret), entry?.row.digest ?? dummyDigest);
    if (!hasDigest || entry === null || entry.row.kind !== parsed.kind) return null;
    entry.proven = Buffer.from(text);
    return entry.row;
  }

  return {
    /** Returns the row of a valid key, otherwise null. The kind in the row is authoritative, never the text's prefix. */
    async verify(text: string): Promise<KeyRow | null> {
      const stored = recall(text) ?? (await prove(text));
      if (stored === null || stored.hasEnded) return null;
      used.add(stored.id);
      return stored;
    },

    /** Records which keys were used since the last call. */
    async flushUses(): Promise<void> {
      if (used.size === 0) return;
      const ids = [...used];
      used = new Set();
      await touchKeys(ids);
    },
  };
}
