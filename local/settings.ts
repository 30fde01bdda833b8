import { z } from 'zod';
import { ConfigError, readVariables } from '../lib/config/read-variables.ts';
import { listenVariables, sharedVariables } from '../lib/config/shared-config.ts';
import { StartError } from './start-error.ts';

const { DATABASE_URL, TEMPORAL_ADDRESS } = sharedVariables.shape;

const variables = z.object({
  ...listenVariables.shape,
  ...sharedVariables.pick({ DOCKET_BASE_URL: true, DOCKET_ENCRYPTION_KEYS: true, DOCKET_LOCAL_REPOSITORIES: true })
    .shape,
  // the stack starts its own server for each that is absent
  DATABASE_URL: DATABASE_URL.optional(),
  TEMPORAL_ADDRESS: TEMPORAL_ADDRESS.unwrap().optional(),
  DOCKET_KEY_PEPPER: z.string().optional(),
});

export type StackSettings = ReturnType<typeof readSettings>;

/**
 * Reads the settings of the local stack from the environment. An empty variable counts as unset. Throws StartError that
 * names every invalid one.
 */
export function readSettings(env: NodeJS.ProcessEnv) {
  try {
    const data = readVariables(variables, env);
    return {
      http: { port: data.PORT, host: data.HOST, baseUrl: data.DOCKET_BASE_URL ?? null },
      databaseUrl: data.DATABASE_URL ?? null,
      temporalAddress: data.TEMPORAL_ADDRESS ?? null,
      keyPepper: data.DOCKET_KEY_PEPPER ?? null,
      /** Raw value of the variable. The processes parse the keys. */
      encryptionKeys: env['DOCKET_ENCRYPTION_KEYS'] || null,
      localRepositories: data.DOCKET_LOCAL_REPOSITORIES ?? null,
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new StartError(`${error.message} Correct it in the environment or in .env.`);
  }
}
