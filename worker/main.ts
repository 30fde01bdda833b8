import { createKnownSecrets } from '../redaction/known-secrets.ts';
import { createRedactor } from '../redaction/redactor.ts';
import { ConfigError, readConfig, secretsOf } from './config.ts';
import { createLogger, installRuntime } from './log.ts';
import { stopSignal } from './stop-signal.ts';
import { runWorkerProcess } from './worker-process.ts';

// until the settings are read, only what is shaped like a secret is known
let redact = createRedactor([]);

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const secrets = createKnownSecrets(secretsOf(config));
  ({ redact } = secrets);
  const log = createLogger({ level: config.logLevel, redact });
  installRuntime(log);
  Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
  await runWorkerProcess({ config, log, secrets, signal: stopSignal({ log, graceMs: config.graceMs }) });
}

try {
  await main();
} catch (error) {
  if (error instanceof ConfigError)
    process.stderr.write(`${redact(JSON.stringify({ level: 60, msg: error.message }))}\n`);
  else process.stderr.write(`${redact(JSON.stringify({ level: 60, msg: 'worker failed', error: String(error) }))}\n`);
  process.exitCode = 1;
}
