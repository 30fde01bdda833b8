import { runApiProcess } from '../../../../api/api-process.ts';
import { readConfig, secretsOf } from '../../../../api/config.ts';
import { createLogger } from '../../../../lib/redaction/logger.ts';
import { createFailpointFile } from '../failpoint-file.ts';
import { createRedactor } from '../../../../lib/redaction/redactor.ts';
import { createFailpoints } from '../servers/failpoint-proxy.ts';

// The API as it runs in production, with failpoints around all of its dependencies.
const config = readConfig(process.env);
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());
const instrument = createFailpoints('api', createFailpointFile(process.env['CHAOS_FAILPOINTS']!));
await runApiProcess({
  config,
  log: createLogger({ process: 'api', level: config.logLevel, redact: createRedactor(secretsOf(config)) }),
  signal: stopping.signal,
  instrument,
});
