import type { Logger } from 'pino';

/** Longest delay before the first round: a process that has just started has other work to do first. */
const maxFirstWaitMs = 1_000;

interface Chore {
  name: string;
  everyMs: number;
  /** Delay after a failed round. */
  retryMs?: number;
  /** Runs a last round when stopped. */
  isRunAtEnd?: boolean;
  /** Reports whether a round has anything to do; if absent, each has. */
  isDue?: () => Promise<boolean>;
  work: () => Promise<unknown>;
  log: Logger;
}

/** Runs several chores, each by itself, and stops them together. */
export function repeatAll(log: Logger, chores: Omit<Chore, 'log'>[]): AsyncDisposable {
  const running = chores.map((chore) => repeat({ ...chore, log }));
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(running.map((chore) => chore[Symbol.asyncDispose]()));
    },
  };
}

/** Runs a chore repeatedly, one round at a time. The first failure of a streak is logged. */
export function repeat({
  name,
  everyMs,
  retryMs = everyMs,
  isRunAtEnd = false,
  isDue,
  work,
  log,
}: Chore): AsyncDisposable {
  let isStopped = false;
  let hasFailed = false;
  let round = Promise.resolve();
  let timer = start(Math.min(everyMs, maxFirstWaitMs));

  function start(afterMs: number): NodeJS.Timeout {
    return setTimeout(() => (round = run()), afterMs);
  }

  async function run(): Promise<void> {
    try {
      if ((await isDue?.()) !== false) await work();
      hasFailed = false;
    } catch (error) {
      if (!hasFailed && (!isStopped || isRunAtEnd))
        log.warn({ err: error, chore: name }, 'periodic task failed; retrying');
      hasFailed = true;
    }
    if (!isStopped) timer = start(hasFailed ? retryMs : everyMs);
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
