import type { Logger } from 'pino';

/** What the workers and the connections take to end after the grace; a process that hangs longer is ended. */
const lastResortMs = 10_000;

/** Aborts at the first SIGTERM or SIGINT; the workers then finish what runs, for `graceMs` at most. */
export function stopSignal({ log, graceMs }: { log: Logger; graceMs: number }): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) return;
      log.info({ signal: name }, 'worker stopping');
      controller.abort();
      setTimeout(() => process.exit(1), graceMs + lastResortMs).unref();
    });
  }
  return controller.signal;
}
