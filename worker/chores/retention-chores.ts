import type { Logger } from 'pino';
import type { ChoreClaims } from '../../db/for-worker/chores.ts';
import type { Retention, RetentionStore } from '../../db/for-worker/retention.ts';
import { repeat } from '../../lib/repeat.ts';

export interface RetentionChoresDeps {
  retention: RetentionStore;
  chores: ChoreClaims;
  limits: Retention;
  log: Logger;
  everyMs?: number;
}

/** Removes data past its retention; one worker does it for all. */
export function createRetentionChores({
  retention,
  chores,
  limits,
  log,
  everyMs = 600_000,
}: RetentionChoresDeps): AsyncDisposable {
  async function sweep(): Promise<void> {
    await retention.bound(limits);
    while (await retention.sweep(limits));
  }
  return repeat({ name: 'retention', everyMs, isDue: () => chores.claim('retention', everyMs), work: sweep, log });
}
