import { ConfigError, readVariables } from '../lib/config/read-variables.ts';
import { sharedVariables } from '../lib/config/shared-config.ts';
import { readTool } from '../lib/inputs/tool-arguments.ts';
import { migrate } from './migrate.ts';
import { isStoreDown } from './store-down.ts';

async function main(env: NodeJS.ProcessEnv): Promise<void> {
  try {
    const { DATABASE_URL } = readVariables(sharedVariables.pick({ DATABASE_URL: true }), env);
    const applied = await migrate(DATABASE_URL, { onWait: console.error });
    console.log(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`);
  } catch (error) {
    console.error(sentenceOf(error));
    process.exitCode = 1;
  }
}

function sentenceOf(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (isStoreDown(error)) {
    return 'The database cannot be reached. Check that PostgreSQL is running and that DATABASE_URL is its address.';
  }
  const reason = error instanceof Error && error.message !== '' ? error.message : 'no reason given';
  return `The database was not migrated: ${reason.split('\n')[0]}`;
}

readTool({ command: 'npm run db:migrate --', about: 'Brings the schema of the database at DATABASE_URL up to date.' });
await main(process.env);
