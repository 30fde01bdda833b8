import type { Logger } from 'pino';

/** Running activities get 25 s to end; a process that hangs longer is ended. */
const lastResortMs = 40_000;

/** Aborts at the first SIGTERM or SIGINT; the workers then finish what runs. */
export function stopSignal(log: Logger): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) return;
      log.info({ signal: name }, 'worker stopping');
      controller.abort();
      setTimeout(() => process.exit(1), lastResortMs).unref();
    });
  }
  return controller.signal;
}
