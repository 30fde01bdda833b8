import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

/** A warning of the SDK about workers that run activities only, which is intended. */
const activitiesOnly = 'No workflows registered, not polling for workflow tasks';

const methods = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/**
 * Sends the logs of Temporal's SDK and the activities to Docket's logger, and leaves signals to the process. The SDK ends
 * its threads with its last worker; disposing ends them, and lets the process exit, when there never was one.
 */
export function installRuntime(log: Logger): AsyncDisposable {
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) => {
    const method = message === activitiesOnly ? 'debug' : methods[level];
    log[method]({ ...meta, taskToken: undefined }, message);
  });
  const runtime = Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
  });
  return { [Symbol.asyncDispose]: () => runtime.shutdown() };
}
