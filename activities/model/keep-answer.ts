import { setTimeout as delay } from 'node:timers/promises';
import { isStoreDown } from '../../db/store-down.ts';

const patienceMs = 60_000;
const retryMs = 250;

/**
 * Stores what a model was paid for: a database that is away for a moment does not cost it. When an earlier try was
 * stored and only its confirmation was lost, `store` answers false.
 */
export async function keepAnswer(store: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      return await store();
    } catch (error) {
      if (!isStoreDown(error) || Date.now() > deadline) throw error;
    }
    await delay(retryMs, undefined, { signal });
  }
}
