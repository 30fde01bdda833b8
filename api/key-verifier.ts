import { timingSafeEqual } from 'node:crypto';
import { digestOf, idWithin, parseKey } from '../db/key-format.ts';
import type { KeyRow, KeyStore, StoredKey } from '../db/keys.ts';

export interface KeyVerifier {
  /** The row of a valid key; null for everything else. The row's kind decides, never the text's prefix. */
  verify(text: string): Promise<KeyRow | null>;
  /** Whether this process has seen the key's id to exist lately, asked without any store. */
  hasSeen(text: string): boolean;
  /** Writes down which keys were used since the last call. */
  flushUses(): Promise<void>;
}

export interface KeyVerifierDeps {
  keys: Pick<KeyStore, 'find' | 'touch'>;
  pepper: string;
  now?: () => number;
}

/** A revoked key stops working within this time. */
const freshMs = 3_000;
const mostEntries = 10_000;
// compared against when the id is unknown, so that both cases do the same work
const dummyDigest = Buffer.alloc(32);

interface Entry {
  lookup: Promise<StoredKey | null>;
  row: StoredKey | null;
  loadedAt: number;
  /** The text that was found right: most requests bring it again. */
  proven: Uint8Array | null;
}

/** Verifies keys against their stored digests, asking the store for each at most once every few seconds. */
export function createKeyVerifier({ keys, pepper, now = Date.now }: KeyVerifierDeps): KeyVerifier {
  const cache = new Map<string, Entry>();
  let used = new Set<string>();

  function find(id: string): Entry {
    const cached = cache.get(id);
    if (cached !== undefined && now() - cached.loadedAt < freshMs) return cached;
    const entry: Entry = { lookup: keys.find(id), row: cached?.row ?? null, loadedAt: now(), proven: null };
    cache.delete(id);
    cache.set(id, entry);
    const [oldest] = cache.keys();
    if (cache.size > mostEntries && oldest !== undefined) cache.delete(oldest);
    entry.lookup.then(
      (row) => {
        entry.row = row;
      },
      () => {
        if (cache.get(id) === entry) cache.delete(id);
      },
    );
    return entry;
  }

  /** The row of a key that was found right a moment ago: the same text needs neither parsing nor a digest. */
  function recall(text: string): StoredKey | null {
    const entry = cache.get(idWithin(text));
    if (entry === undefined || entry.proven === null || now() - entry.loadedAt >= freshMs) return null;
    const given = Buffer.from(text);
    return entry.proven.length === given.length && timingSafeEqual(entry.proven, given) ? entry.row : null;
  }

  async function prove(text: string): Promise<StoredKey | null> {
    const parsed = parseKey(text);
    if (parsed === null) return null;
    const entry = find(parsed.id);
    const stored = await entry.lookup;
    const hasDigest = timingSafeEqual(digestOf(pepper, parsed.secret), stored?.digest ?? dummyDigest);
    if (!hasDigest || stored === null || stored.kind !== parsed.kind) return null;
    entry.proven = Buffer.from(text);
    return stored;
  }

  return {
    async verify(text) {
      const stored = recall(text) ?? (await prove(text));
      if (stored === null || hasEnded(stored, now())) return null;
      used.add(stored.id);
      return stored;
    },

    hasSeen(text) {
      const parsed = parseKey(text);
      return parsed !== null && (cache.get(parsed.id)?.row ?? null) !== null;
    },

    async flushUses() {
      if (used.size === 0) return;
      const ids = [...used];
      used = new Set();
      await keys.touch(ids);
    },
  };
}

function hasEnded({ revokedAt, expiresAt }: KeyRow, now: number): boolean {
  return revokedAt !== null || (expiresAt !== null && expiresAt.getTime() <= now);
}
