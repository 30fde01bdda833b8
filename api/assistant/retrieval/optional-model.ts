import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

/** A model that improves searches. They continue without it when it fails. */
export interface OptionalModel {
  /**
   * Returns the result of the call. Returns null when the call fails or is late, and without a call for a while after
   * that. A late call continues, so that it may still fill a cache.
   */
  ask<Result>(call: (signal: AbortSignal) => Promise<Result>, signal: AbortSignal): Promise<Result | null>;
}

export interface OptionalModelDeps {
  log: Logger;
  /** The model and what happens without it, as in `the embedding model failed; searching by words for a while`. */
  name: string;
  instead: string;
  /** Time an answer waits for a call. */
  timeoutMs: number;
  /** Time without calls after one failed or was late. */
  pauseMs?: number;
}

const maxCallMs = 15_000;

export function createOptionalModel(deps: OptionalModelDeps): OptionalModel {
  const { log, name, instead, timeoutMs, pauseMs = 30_000 } = deps;
  let pausedUntil = -Infinity;

  function pause(problem: string, err?: unknown): void {
    pausedUntil = performance.now() + pauseMs;
    log.warn({ err }, `the ${name} model ${problem}; ${instead} for a while`);
  }

  return {
    async ask(call, signal) {
      if (signal.aborted || performance.now() < pausedUntil) return null;
      const waiting = new AbortController();
      const called = call(AbortSignal.any([signal, AbortSignal.timeout(maxCallMs)]));
      // a late call may fail silently, because its lateness is already logged
      called.catch(() => undefined);
      try {
        const late = delay(timeoutMs, null, { signal: AbortSignal.any([signal, waiting.signal]) });
        const result = await Promise.race([called, late]);
        if (result === null) pause('is too slow');
        return result;
      } catch (error) {
        if (!signal.aborted) pause('failed', error);
        return null;
      } finally {
        waiting.abort();
      }
    },
  };
}
