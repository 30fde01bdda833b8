import { createRedactor } from '../../../../lib/redaction/redactor.ts';
import { readConfig, secretsOf } from '../../../../worker/config/config.ts';
import { createLogger } from '../../../../lib/redaction/logger.ts';
import { installRuntime } from '../../../../worker/install-runtime.ts';
import { runWorkerProcess } from '../../../../worker/worker-process.ts';
import { createFailpointFile } from '../failpoint-file.ts';
import { createFailpoints } from '../servers/failpoint-proxy.ts';

// The worker as it runs in production, with failpoints around all of its dependencies.
const config = readConfig(process.env);
const log = createLogger({ process: 'worker', level: config.logLevel, redact: createRedactor(secretsOf(config)) });
installRuntime(log);
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());
const instrument = createFailpoints('worker', createFailpointFile(process.env['CHAOS_FAILPOINTS']!));
await runWorkerProcess({ config, log, signal: stopping.signal, instrument });
