import { setTimeout as delay } from 'node:timers/promises';
import type { ModelCallLeases } from '../../db/for-worker/model-call-leases.ts';
import { repeatWhile } from '../../lib/repeat-while.ts';
import type { StepRef } from '../../workflows/contract/job.ts';

export interface CallLeaseDeps {
  leases: ModelCallLeases;
  /** Must be well below the duration of a lease. */
  everyMs?: number;
  pollMs?: number;
}

export type CallLeases = ReturnType<typeof createCallLeases>;

/**
 * After an outage, Temporal takes the attempts of a living worker for dead and starts others. A call in flight has been
 * paid for, so a new attempt waits while an older one holds the lease. One statement renews all leases of a process.
 */
export function createCallLeases({ leases, everyMs = 500, pollMs = 200 }: CallLeaseDeps) {
  const held = new Set<StepRef>();
  // while the database is unreachable, the worst case is a second call of the model
  const renew = repeatWhile(
    () => held.size > 0,
    () => leases.renew([...held]),
    everyMs,
  );

  return {
    /** Holds the lease of a claimed step while its call is in flight. */
    async during<Answer>(step: StepRef & { fence: number }, work: () => Promise<Answer>): Promise<Answer> {
      held.add(step);
      renew();
      let isDone = false;
      try {
        const answer = await work();
        isDone = true;
        return answer;
      } finally {
        held.delete(step);
        if (!isDone) await leases.release(step).catch(() => undefined);
      }
    },

    /** Resolves when no other attempt has a call for the step in flight; the step then has an answer or needs a call. */
    async untilFree(ref: StepRef, signal: AbortSignal): Promise<void> {
      while (await leases.isInFlight(ref)) await delay(pollMs, undefined, { signal });
    },
  };
}
