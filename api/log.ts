import { pino } from 'pino';
import type { Logger } from 'pino';

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

/** JSON lines on standard output; fields that may hold a secret are blanked. */
export function createLogger({ level }: { level: string }): Logger {
  return pino({
    level,
    base: { process: 'api' },
    redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
  });
}
