import { DefaultLogger, Runtime, type LogLevel } from '@temporalio/worker';
import type { Logger } from 'pino';

/** Sends what Temporal's SDK and the activities log to our logger, and leaves the signals to the process. */
export function installRuntime(log: Logger): void {
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) => {
    log[methodOf(level)]({ ...meta, taskToken: undefined }, message);
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
