import { join } from 'node:path';
import { createGit } from '../../../../activities/git/git.ts';
import { createKnownSecrets } from '../../../../lib/redaction/known-secrets.ts';
import { readConfig, secretsOf } from '../../../../worker/config/config.ts';
import { createLogger } from '../../../../lib/redaction/logger.ts';
import { installRuntime } from '../../../../worker/install-runtime.ts';
import { runWorkerProcess } from '../../../../worker/worker-process.ts';
import { loopbackEgress } from '../../../support/servers/loopback.ts';

// The worker as it runs in production, except that it may reach a forge on this machine without TLS.
const config = readConfig(process.env);
const secrets = createKnownSecrets(secretsOf(config));
const log = createLogger({ process: 'worker', level: config.logLevel, redact: secrets.redact });
installRuntime(log);
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
const stopping = new AbortController();
process.on('SIGTERM', () => stopping.abort());
const git = createGit({
  home: join(config.workDirectory, 'git-home'),
  transports: ['https', 'http', 'file', 'ssh'],
  egress: loopbackEgress,
});
await runWorkerProcess({
  config,
  log,
  secrets,
  signal: stopping.signal,
  instrument(name, part) {
    if (name === 'git') return { ...part, ...git };
    return name === 'clients' ? { ...part, problemWithRepository: () => null } : part;
  },
});
