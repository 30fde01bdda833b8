import { pino } from 'pino';
import type { Logger } from 'pino';
import { createLineScrubber } from '../lib/redaction/log-line.ts';

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

/** JSON lines on standard output, each one line whatever it tells of. Secrets are taken out of every text; fields that may hold one are blanked. */
export function createLogger({ level, redact }: { level: string; redact(text: string): string }): Logger {
  return pino({
    level,
    base: { process: 'api' },
    redact: { paths: secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
    hooks: { streamWrite: createLineScrubber(redact) },
  });
}
