import { DefaultLogger, Runtime, type LogLevel } from '@temporalio/worker';
import type { Logger } from 'pino';

/** A warning of the SDK about workers that run activities only, which is intended. */
const activitiesOnly = 'No workflows registered, not polling for workflow tasks';

/** Sends the logs of Temporal's SDK and the activities to Docket's logger, and leaves signals to the process. */
export function installRuntime(log: Logger): void {
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) => {
    const method = message === activitiesOnly ? 'debug' : methodOf(level);
    log[method]({ ...meta, taskToken: undefined }, message);
  });
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
  });
}

function methodOf(level: LogLevel): 'trace' | 'debug' | 'info' | 'warn' | 'error' {
  switch (level) {
    case 'TRACE':
      return 'trace';
    case 'DEBUG':
      return 'debug';
    case 'WARN':
      return 'warn';
    case 'ERROR':
      return 'error';
    case 'INFO':
      return 'info';
    default:
      return level satisfies never;
  }
}
