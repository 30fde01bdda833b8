import type { Logger } from 'pino';
import type { Retention, RetentionStore } from '../../db/for-worker/retention.ts';
import { repeat } from '../../lib/repeat.ts';

export interface RetentionChoresDeps {
  retention: RetentionStore;
  limits: Retention;
  log: Logger;
  everyMs?: number;
}

/** Removes data past its retention. Runs in every worker: removal is idempotent. */
export function createRetentionChores({
  retention,
  limits,
  log,
  everyMs = 600_000,
}: RetentionChoresDeps): AsyncDisposable {
  async function sweep(): Promise<void> {
    while (await retention.sweep(limits));
  }
  return repeat({ name: 'retention', everyMs, retryMs: 60_000, work: sweep, log });
}
