import type { KeyUse, UsageStore } from '../../db/organizations/usage.ts';

export interface KeyUses {
  /** Counts a request of a reader; `isRefused`: a limit turned it away. */
  note(keyId: string, isRefused: boolean): void;
  /** Writes down what was counted since the last call. */
  flush(): Promise<void>;
}

/** Counts requests by key in memory: a kill loses those of the last seconds, and no request waits for a count. */
export function createKeyUses({ usage }: { usage: Pick<UsageStore, 'count'> }): KeyUses {
  let uses = new Map<string, KeyUse>();

  function add({ keyId, requests, refused }: KeyUse): void {
    const known = uses.get(keyId) ?? { keyId, requests: 0, refused: 0 };
    uses.set(keyId, { keyId, requests: known.requests + requests, refused: known.refused + refused });
  }

  return {
    note(keyId, isRefused) {
      add({ keyId, requests: 1, refused: isRefused ? 1 : 0 });
    },

    async flush() {
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
