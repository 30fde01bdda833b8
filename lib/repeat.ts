import type { Logger } from 'pino';

/** A process that has just begun has work to take up first. */
const longestFirstWaitMs = 1_000;

/** Runs a chore again and again, one round at a time. The first failure of a streak is logged. */
export function repeat({
  name,
  everyMs,
  retryMs = everyMs,
  isRunAtEnd = false,
  work,
  log,
}: {
  name: string;
  everyMs: number;
  /** The wait after a round that failed. */
  retryMs?: number;
  /** Runs a last round when it is stopped. */
  isRunAtEnd?: boolean;
  work: () => Promise<unknown>;
  log: Logger;
}): AsyncDisposable {
  let isStopped = false;
  let hasFailed = false;
  let round = Promise.resolve();
  let timer = begin(Math.min(everyMs, longestFirstWaitMs));

  function begin(afterMs: number): NodeJS.Timeout {
    return setTimeout(() => (round = run()), afterMs);
  }

  async function run(): Promise<void> {
    try {
      await work();
      hasFailed = false;
    } catch (error) {
      if (!hasFailed && (!isStopped || isRunAtEnd))
        log.warn({ err: error, chore: name }, 'periodic task failed; retrying');
      hasFailed = true;
    }
    if (!isStopped) timer = begin(hasFailed ? retryMs : everyMs);
  }

  return {
    async [Symbol.asyncDispose]() {
      isStopped = true;
      clearTimeout(timer);
      await round;
      if (isRunAtEnd) await run();
    },
  };
}
