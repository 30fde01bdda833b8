import { runApiProcess } from './api-process.ts';
import { createRedactor } from '../lib/redaction/redactor.ts';
import { onUncaught } from '../lib/redaction/uncaught.ts';
import { readConfig, secretsOf } from './config.ts';
import { createLogger } from '../lib/redaction/logger.ts';
import { ConfigError } from '../lib/config/read-variables.ts';
import { useProxies } from '../lib/network/proxies.ts';

/** Runs an API as the environment configures it. What prevents that is logged, and the exit code is 1. */
export async function runMain(): Promise<void> {
  // until the settings are read, secrets can only be recognized by their shape
  let redact = createRedactor([]);
  const lastLog = () => createLogger({ process: 'api', level: 'info', redact });
  onUncaught((error) => lastLog().fatal({ err: error }, 'The API exited on an uncaught error.'));
  try {
    const config = readConfig(process.env);
    redact = createRedactor(secretsOf(config));
    const log = createLogger({ process: 'api', level: config.logLevel, redact });
    useProxies(config.proxies);
    await runApiProcess({ config, log, signal: stopSignal() });
  } catch (error) {
    const log = lastLog();
    if (error instanceof ConfigError) log.fatal(`The configuration is invalid: ${error.message}`);
    else log.fatal({ err: error }, `The API could not run. ${reasonOf(error)}`);
    process.exitCode = 1;
  }
}

/** Returns a signal that aborts at the first SIGTERM or SIGINT. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => controller.abort());
  return controller.signal;
}

/** Returns a one-line reason for the log. The most common cause is the port. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return 'The port is in use by another process; set PORT to a free one.';
  if (code === 'EACCES') return 'This user may not open the port; set PORT to one above 1023.';
  return error.message;
}
