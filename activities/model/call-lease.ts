import { setTimeout as delay } from 'node:timers/promises';
import type { ModelCallLeases } from '../../db/for-worker/model-call-leases.ts';
import { repeatWhile } from '../../lib/repeat-while.ts';
import type { StepRef } from '../../workflows/contract/job.ts';

export interface CallLeases {
  /** Holds the lease of a claimed step while its call is in flight. */
  during<Answer>(held: StepRef & { fence: number }, work: () => Promise<Answer>): Promise<Answer>;
  /** Resolves when no other attempt has a call for the step in flight; the step then has an answer or needs a call. */
  untilFree(ref: StepRef, signal: AbortSignal): Promise<void>;
}

export interface CallLeaseDeps {
  leases: ModelCallLeases;
  /** Must be well below the duration of a lease. */
  everyMs?: number;
  pollMs?: number;
}

/**
 * After an outage, Temporal takes the attempts of a living worker for dead and starts others. A call in flight has been
 * paid for, so a new attempt waits while an older one holds the lease. One statement renews all leases of a process.
 */
export function createCallLeases({ leases, everyMs = 500, pollMs = 200 }: CallLeaseDeps): CallLeases {
  const held = new Set<StepRef>();
  // while the database is unreachable, the worst case is a second call of the model
  const renew = repeatWhile(
    () => held.size > 0,
    () => leases.renew([...held]),
    everyMs,
  );

  return {
    async during(step, work) {
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

    async untilFree(ref, signal) {
      while (await leases.isInFlight(ref)) await delay(pollMs, undefined, { signal });
    },
  };
}
