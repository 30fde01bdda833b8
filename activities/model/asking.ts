import { setTimeout as delay } from 'node:timers/promises';
import type { AskedSteps } from '../../db/for-worker/asked-steps.ts';
import type { StepRef } from '../../workflows/contract/job.ts';
import { repeatWhile } from './repeat-while.ts';

export interface Asking {
  /** Runs the asking of an attempt that has claimed its step; the others are told until it is over. */
  during<Answer>(held: StepRef & { fence: number }, work: () => Promise<Answer>): Promise<Answer>;
  /** Resolves when no other attempt is asking for the step: it has an answer then, or has to be asked for. */
  untilNobodyAsks(ref: StepRef, signal: AbortSignal): Promise<void>;
}

export interface AskingDeps {
  asked: AskedSteps;
  /** Well below the time that a step counts as asked for. */
  everyMs?: number;
  pollMs?: number;
}

/**
 * An engine that was away takes the attempts of a living worker for dead and begins others. A call of the model that is under
 * way is paid for, so the new attempt waits while the old one is asking. All askings of a process are told in one statement.
 */
export function createAsking({ asked, everyMs = 500, pollMs = 200 }: AskingDeps): Asking {
  const held = new Set<StepRef>();
  // a database that is away for a moment costs a second call of the model at worst
  const tellOn = repeatWhile(
    () => held.size > 0,
    () => asked.stillAsked([...held]),
    everyMs,
  );

  return {
    async during(step, work) {
      held.add(step);
      tellOn();
      let isDone = false;
      try {
        const answer = await work();
        isDone = true;
        return answer;
      } finally {
        held.delete(step);
        if (!isDone) await asked.endAsked(step).catch(() => undefined);
      }
    },

    async untilNobodyAsks(ref, signal) {
      while (await asked.isAsked(ref)) await delay(pollMs, undefined, { signal });
    },
  };
}
