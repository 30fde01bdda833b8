import { join, resolve } from 'node:path';
import { ConnectionError, isStoreDown } from '../../db/store-down.ts';
import { parseEncryptionKeys } from '../../lib/encryption/keys.ts';
import { readTemporalSettings } from '../../lib/temporal/temporal-credentials.ts';
import { findEncryptionKey, readEncryptionKey, readKeyPepper } from '../../local/home.ts';
import { homeOf, readLocalJson } from '../../local/local-json.ts';
import { readSettings } from '../../local/settings.ts';
import { codeOf, undefinedTable } from '../../lib/error-code.ts';
import { CommandError } from '../command-error.ts';
import type { WithOperator } from './context.ts';

async function settingsOf(env: NodeJS.ProcessEnv) {
  const home = homeOf(env);
  const local = await readLocalJson(home);
  const given = readSettings(env);
  const isLocal = given.databaseUrl === null;
  const databaseUrl = given.databaseUrl ?? local?.databaseUrl;
  if (databaseUrl === undefined) {
    throw new CommandError(
      `No database is configured. Run "npm start" first (it writes ${join(home, 'local.json')}), or set DATABASE_URL.`,
    );
  }
  if (!isLocal && given.keyPepper === null) {
    throw new CommandError('DOCKET_KEY_PEPPER is not set; it must be the one that the API runs with.');
  }
  const localRoot = given.localRepositories ?? (isLocal ? join(home, 'repositories') : null);
  // the processes could not open secrets that were stored with any other key than the home's own
  const encryptionKeys = given.encryptionKeys ?? (await (isLocal ? readEncryptionKey : findEncryptionKey)(home));
  return {
    databaseUrl,
    keyPepper: given.keyPepper ?? (await readKeyPepper(home)),
    encryptionKeys: parseEncryptionKeys(encryptionKeys ?? ''),
    localRoot: localRoot && resolve(localRoot),
    temporal: readTemporalSettings(
      given.temporalAddress === null
        ? { TEMPORAL_ADDRESS: local?.temporalAddress, TEMPORAL_NAMESPACE: env['TEMPORAL_NAMESPACE'] }
        : env,
    ),
  };
}

/** Opens the installation's database: `DATABASE_URL`, or that of the local stack. */
export const withOperator: WithOperator = async (work) => {
  const { databaseUrl, keyPepper, ...context } = await settingsOf(process.env);
  // loaded here because most commands use HTTP only
  const [{ createPool }, { createOperatorStores }] = await Promise.all([
    import('../../db/pool.ts'),
    import('./stores.ts'),
  ]);
  const pool = createPool({ url: databaseUrl, maxConnections: 2, applicationName: 'docket-cli' });
  try {
    const stores = createOperatorStores({ pool, keyPepper, encryptionKeys: context.encryptionKeys });
    return await work({ stores, ...context });
  } catch (error) {
    if (isStoreDown(error)) {
      const cause = error instanceof ConnectionError ? error.cause : null;
      const reason = cause instanceof Error && cause.message !== '' ? ` (${cause.message})` : '';
      throw new CommandError(`The database cannot be reached${reason}. Is "npm start" running?`, { cause: error });
    }
    if (codeOf(error) !== undefinedTable) throw error;
    throw new CommandError('The database has no tables yet. Run "npm run db:migrate" first.', { cause: error });
  } finally {
    await pool.end();
  }
};
