import { pino, stdSerializers, type Logger } from 'pino';
import { createLineScrubber } from './log-line.ts';

const secretNames = [
  'authorization',
  'key',
  'secret',
  'token',
  'password',
  'pepper',
  'apiKey',
  'connectionString',
  'prompt',
];

export interface LoggerOptions {
  process: 'api' | 'worker';
  level: string;
  redact(text: string): string;
}

/**
 * Writes JSON lines to standard output, one line per entry. Secrets are redacted from every text, and fields that may
 * hold one are blanked.
 */
export function createLogger({ process, level, redact }: LoggerOptions): Logger {
  return pino({
    level,
    base: { process },
    redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
    // Temporal's SDK logs under `error`, Docket under `err`
    serializers: { err: stdSerializers.err, error: stdSerializers.err },
    hooks: { streamWrite: createLineScrubber(redact) },
  });
}
