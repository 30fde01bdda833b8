import { setTimeout as sleep } from 'node:timers/promises';

const firstWaitMs = 20;
const maxWaitMs = 250;

/** Repeats an attempt until it succeeds. When `signal` aborts, throws the error of the last attempt. */
export async function untilSuccess<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let wait = firstWaitMs; ; wait = Math.min(wait * 1.5, maxWaitMs)) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) throw error;
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
  }
}
