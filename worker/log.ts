import { DefaultLogger, Runtime, type LogLevel } from '@temporalio/worker';
import { pino, stdSerializers, type Logger } from 'pino';
import { createLineScrubber } from '../lib/redaction/log-line.ts';

/** JSON lines on standard output, each one line whatever it tells of. Secrets are taken out of every text; fields named like one are blanked. */
export function createLogger({ level, redact }: { level: string; redact(text: string): string }): Logger {
  const names = ['authorization', 'apiKey', 'password', 'secret', 'token', 'prompt', 'connectionString'];
  return pino({
    level,
    base: { process: 'worker' },
    redact: { paths: names.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
    // the SDK logs under `error`, we under `err`
    serializers: { err: stdSerializers.err, error: stdSerializers.err },
    hooks: { streamWrite: createLineScrubber(redact) },
  });
}

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
