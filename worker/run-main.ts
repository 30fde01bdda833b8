import { createKnownSecrets } from '../lib/redaction/known-secrets.ts';
import { createLineScrubber } from '../lib/redaction/log-line.ts';
import { createRedactor } from '../lib/redaction/redactor.ts';
import { onUncaught } from '../lib/redaction/uncaught.ts';
import { readConfig, secretsOf } from './config/config.ts';
import { createLogger } from '../lib/redaction/logger.ts';
import { openCommands } from './open-commands.ts';
import { ConfigError } from '../lib/config/read-variables.ts';
import { useProxies } from '../lib/network/proxies.ts';
import type { Logger } from 'pino';

/** Runs a worker as the environment configures it; what stops it from that is logged, and the exit code is 1. */
export async function runMain(): Promise<void> {
  // until the settings are read, only text shaped like a secret is recognized
  let redact = createRedactor([]);
  const say = (said: object) =>
    process.stderr.write(`${createLineScrubber(redact)(JSON.stringify({ level: 60, ...said }))}\n`);
  onUncaught((error) =>
    createLogger({ process: 'worker', level: 'info', redact }).fatal(
      { err: error },
      'The worker exited on an uncaught error.',
    ),
  );
  try {
    const config = readConfig(process.env);
    const secrets = createKnownSecrets(secretsOf(config));
    redact = secrets.redactLog;
    const log = createLogger({ process: 'worker', level: config.logLevel, redact });
    useProxies(config.proxies);
    const signal = stopSignal({ log, graceMs: config.graceMs });
    await using resources = new AsyncDisposableStack();
    // opens in another process while this one loads the rest of its code
    const commands = openCommands(config, { log, resources });
    commands.catch(() => undefined); // awaited below, unless the rest fails first
    const [{ installRuntime }, { runWorkerProcess }] = await Promise.all([
      import('./install-runtime.ts'),
      import('./worker-process.ts'),
    ]);
    resources.use(installRuntime(log));
    Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
    await runWorkerProcess({ config, log, secrets, signal, commands });
  } catch (error) {
    const said = error instanceof ConfigError ? { msg: error.message } : { msg: 'worker failed', error: String(error) };
    say(said);
    process.exitCode = 1;
  }
}

/** Time after the grace period in which the process may close workers and connections before it is forced to exit. */
const lastResortMs = 10_000;

/** Returns a signal that aborts at the first SIGTERM or SIGINT. Running work may then continue for `graceMs`. */
function stopSignal({ log, graceMs }: { log: Logger; graceMs: number }): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) return;
      log.info({ signal: name }, 'worker stopping');
      controller.abort();
      setTimeout(() => process.exit(1), graceMs + lastResortMs).unref();
    });
  }
  return controller.signal;
}
