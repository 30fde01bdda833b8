import type { KeyUse, UsageStore } from '../../db/organizations/usage.ts';

export type KeyUses = ReturnType<typeof createKeyUses>;

/**
 * Counts requests by key in memory, so that none waits for the database. A kill loses the counts since the last flush.
 */
export function createKeyUses({ usage }: { usage: Pick<UsageStore, 'count'> }) {
  let uses = new Map<string, KeyUse>();

  function add({ keyId, requests, refused }: KeyUse): void {
    const known = uses.get(keyId) ?? { keyId, requests: 0, refused: 0 };
    uses.set(keyId, { keyId, requests: known.requests + requests, refused: known.refused + refused });
  }

  return {
    /** Counts a reader's request. `isRefused` means that a rate limit rejected it. */
    note(keyId: string, isRefused: boolean): void {
      add({ keyId, requests: 1, refused: isRefused ? 1 : 0 });
    },

    /** Stores the counts since the last call. */
    async flush(): Promise<void> {
      if (uses.size === 0) return;
      const counted = [...uses.values()];
      uses = new Map();
      try {
        await usage.count(counted);
      } catch (error) {
        for (const use of counted) add(use);
        throw error;
      }
    },
  };
}
