import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';

/** A warning of the SDK about workers that run activities only, which is intended. */
const activitiesOnly = 'No workflows registered, not polling for workflow tasks';

const methods = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Sends the logs of Temporal's SDK and the activities to Docket's logger, and leaves signals to the process. */
export function installRuntime(log: Logger): void {
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) => {
    const method = message === activitiesOnly ? 'debug' : methods[level];
    log[method]({ ...meta, taskToken: undefined }, message);
  });
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
  });
}
