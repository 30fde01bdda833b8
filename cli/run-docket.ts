import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { CommanderError } from 'commander';
import { isStoreDown } from '../db/store-down.ts';
import { EncryptionKeysError, parseEncryptionKeys } from '../lib/encryption/keys.ts';
import { secretsOfEnvironment } from '../lib/redaction/environment-secrets.ts';
import { asOneLine } from '../lib/redaction/log-line.ts';
import { createRedactor } from '../lib/redaction/redactor.ts';
import { readTemporalSettings } from '../lib/temporal/temporal-credentials.ts';
import { onUncaught } from '../lib/redaction/uncaught.ts';
import { parseWebhookHosts } from '../lib/inputs/webhook-address.ts';
import { CommandError } from './commands/context.ts';
import type { WithContext } from './commands/context.ts';
import { createProgram } from './commands/program.ts';
import { findEncryptionKey, homeOf, readEncryptionKey, readKeyPepper } from '../local/home.ts';
import { readLocalJson } from '../local/local-json.ts';
import { codeOf, messageOf } from '../local/start-error.ts';

/** `npm run docket -- …`: administers organizations, projects, sites, keys and webhooks, of the local stack or of `DATABASE_URL`. */

const checkout = resolve(import.meta.dirname, '..');
/** PostgreSQL's code. */
const undefinedTable = '42P01';

/** Secrets stored with another key than the processes have would be lost to them, so the home's is taken where there is one. */
async function encryptionKeysOf(env: NodeJS.ProcessEnv, home: string, isLocal: boolean) {
  const own = isLocal ? readEncryptionKey : findEncryptionKey;
  try {
    return parseEncryptionKeys(env['DOCKET_ENCRYPTION_KEYS'] || ((await own(home)) ?? ''));
  } catch (error) {
    if (!(error instanceof EncryptionKeysError)) throw error;
    throw new CommandError(`DOCKET_ENCRYPTION_KEYS ${error.message}.`, { cause: error });
  }
}

async function settingsOf(env: NodeJS.ProcessEnv) {
  const home = homeOf(env);
  const local = await readLocalJson(home);
  const databaseUrl = env['DATABASE_URL'] || local?.databaseUrl;
  if (databaseUrl === undefined) {
    throw new CommandError(
      `No database is known: run "npm start" first (it writes ${join(home, 'local.json')}), or set DATABASE_URL.`,
    );
  }
  const isLocal = !env['DATABASE_URL'];
  if (!isLocal && !env['DOCKET_KEY_PEPPER']) {
    throw new CommandError('DOCKET_KEY_PEPPER is not set; it must be the one that the API runs with.');
  }
  const localRoot = env['DOCKET_LOCAL_REPOSITORIES'] || (isLocal ? join(home, 'repositories') : undefined);
  return {
    databaseUrl,
    keyPepper: env['DOCKET_KEY_PEPPER'] || (await readKeyPepper(home)),
    encryptionKeys: await encryptionKeysOf(env, home, isLocal),
    localRoot: localRoot === undefined ? null : resolve(localRoot),
    allowedHosts: (env['DOCKET_ALLOWED_HOSTS'] || 'github.com').split(',').map((host) => host.trim().toLowerCase()),
    webhookAllowedHosts: parseWebhookHosts(env['DOCKET_WEBHOOK_ALLOWED_HOSTS'] ?? ''),
    baseUrl: (env['DOCKET_BASE_URL'] || local?.baseUrl || 'http://127.0.0.1:8080').replace(/\/+$/, ''),
    temporal: readTemporalSettings(
      env['TEMPORAL_ADDRESS']
        ? env
        : { TEMPORAL_ADDRESS: local?.temporalAddress, TEMPORAL_NAMESPACE: env['TEMPORAL_NAMESPACE'] },
    ),
  };
}

const withContext: WithContext = async (work) => {
  const { databaseUrl, ...context } = await settingsOf(process.env);
  // a bundle is replayed without it
  const { createPool } = await import('../db/pool.ts');
  const pool = createPool({ url: databaseUrl, maxConnections: 2, applicationName: 'docket-cli' });
  try {
    return await work({ pool, ...context, readInput });
  } catch (error) {
    if (isStoreDown(error)) {
      throw new CommandError('The database cannot be reached; is "npm start" running?', { cause: error });
    }
    if (codeOf(error) !== undefinedTable) throw error;
    throw new CommandError('The database has no tables yet; run "npm run db:migrate" first.', { cause: error });
  } finally {
    await pool.end();
  }
};

/** A person at a terminal is told how to end what is typed. */
function readInput(): Promise<string> {
  if (process.stdin.isTTY) console.error('Paste it, then press Enter and Ctrl-D.');
  return text(process.stdin);
}

const environmentFile = join(checkout, '.env');
if (existsSync(environmentFile)) process.loadEnvFile(environmentFile);

const redact = createRedactor(secretsOfEnvironment(process.env));
const say = (error: unknown) => console.error(asOneLine(redact(messageOf(error))));
onUncaught(say);
try {
  await createProgram(withContext).parseAsync();
} catch (error) {
  // a mistake in the use of the command line was printed with it
  if (!(error instanceof CommanderError)) say(error);
  process.exitCode = error instanceof CommanderError ? error.exitCode : 1;
}
