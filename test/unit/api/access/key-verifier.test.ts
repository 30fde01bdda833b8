import { describe, expect, it } from 'vitest';
import { createKeyVerifier } from '../../../../api/access/key-verifier.ts';
import { createKeyText, digestOf } from '../../../../db/organizations/key-format.ts';
import type { StoredKey } from '../../../../db/for-service/access.ts';

function stage(change: Partial<StoredKey> = {}, kind: 'admin' | 'assistant' = 'admin') {
  const { key, id, secret } = createKeyText(kind);
  const row: StoredKey = {
    id,
    organizationId: 'org_1',
    kind,
    role: 'admin',
    name: null,
    createdAt: new Date(0),
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    allowedOrigins: [],
    allowsNoOrigin: false,
    proofOfWork: false,
    requestsPerMinute: null,
    requestsPerDay: null,
    captcha: null,
    digest: digestOf('pepper', secret),
    hasEnded: false,
    ...change,
  };
  const touched: string[][] = [];
  const state = { now: 1_000_000, finds: 0, touched, stored: row as StoredKey | null, failure: null as Error | null };
  const verifier = createKeyVerifier({
    pepper: 'pepper',
    now: () => state.now,
    async findKey(asked) {
      state.finds += 1;
      if (state.failure !== null) throw state.failure;
      return asked === id ? state.stored : null;
    },
    async touchKeys(ids) {
      touched.push(ids);
    },
  });
  return { key, id, row, state, verifier };
}

describe('createKeyVerifier', () => {
  it('returns the row of a valid key and queries the store once for many requests', async () => {
    const { key, row, state, verifier } = stage();
    const rows = await Promise.all([verifier.verify(key), verifier.verify(key), verifier.verify(key)]);
    expect(rows).toEqual([row, row, row]);
    expect(state.finds).toBe(1);
  });

  it('refuses a different secret with the same id', async () => {
    const { verifier, state } = stage();
    const other = stage();
    state.stored = { ...other.row, digest: digestOf('pepper', 'x'.repeat(43)) };
    expect(await verifier.verify(other.key)).toBeNull();
  });

  it('decides by the kind in the row, not by the prefix', async () => {
    const { key, verifier } = stage({ kind: 'admin' }, 'assistant');
    expect(await verifier.verify(key)).toBeNull();
  });

  it('refuses a key that has ended', async () => {
    const { key, verifier } = stage({ hasEnded: true });
    expect(await verifier.verify(key)).toBeNull();
  });

  it('notices a revocation within five seconds', async () => {
    const { key, row, state, verifier } = stage();
    expect(await verifier.verify(key)).not.toBeNull();
    state.stored = { ...row, hasEnded: true };
    state.now += 5_000;
    expect(await verifier.verify(key)).toBeNull();
  });

  it('does not cache that the store was down', async () => {
    const { key, state, verifier } = stage();
    state.failure = new Error('down');
    await expect(verifier.verify(key)).rejects.toThrow('down');
    state.failure = null;
    expect(await verifier.verify(key)).not.toBeNull();
  });

  it('does not query the store for a malformed key', async () => {
    const { key, state, verifier } = stage();
    const typo = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');
    for (const text of ['', 'svc_', typo, `${key}x`, key.replace('svc_', 'svc_dsc_')]) {
      expect(await verifier.verify(text)).toBeNull();
    }
    expect(state.finds).toBe(0);
  });

  it('keeps the keys in use through a flood of unknown ones, and queries each of those once', async () => {
    const { key, state, verifier } = stage();
    expect(await verifier.verify(key)).not.toBeNull();
    const unknown = createKeyText('admin').key;
    for (let count = 0; count < 3; count += 1) expect(await verifier.verify(unknown)).toBeNull();
    expect(state.finds).toBe(2);
    for (let count = 0; count < 10_001; count += 1) await verifier.verify(createKeyText('admin').key);
    expect(await verifier.verify(key)).not.toBeNull();
    expect(state.finds).toBe(10_003);
  });

  it('writes uses in batches', async () => {
    const { key, id, state, verifier } = stage();
    await verifier.verify(key);
    await verifier.verify(key);
    await verifier.flushUses();
    await verifier.flushUses();
    expect(state.touched).toEqual([[id]]);
  });
});
