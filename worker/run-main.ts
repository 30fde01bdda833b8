import { createKnownSecrets } from '../redaction/known-secrets.ts';
import { createRedactor } from '../redaction/redactor.ts';
import { ConfigError, readConfig, secretsOf } from './config.ts';
import { createLogger, installRuntime } from './log.ts';
import { stopSignal } from './stop-signal.ts';
import { runWorkerProcess } from './worker-process.ts';

/** Runs a worker as the environment configures it; what stops it from that is logged, and the exit code is 1. */
export async function runMain(): Promise<void> {
  // until the settings are read, only what is shaped like a secret is known
  let redact = createRedactor([]);
  try {
    const config = readConfig(process.env);
    const secrets = createKnownSecrets(secretsOf(config));
    ({ redact } = secrets);
    const log = createLogger({ level: config.logLevel, redact });
    installRuntime(log);
    Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
    await runWorkerProcess({ config, log, secrets, signal: stopSignal({ log, graceMs: config.graceMs }) });
  } catch (error) {
    const said = error instanceof ConfigError ? { msg: error.message } : { msg: 'worker failed', error: String(error) };
    process.stderr.write(`${redact(JSON.stringify({ level: 60, ...said }))}\n`);
    process.exitCode = 1;
  }
}
