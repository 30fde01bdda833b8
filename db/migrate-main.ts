import { readTool } from '../lib/inputs/tool-arguments.ts';
import { migrate } from './migrate.ts';
import { isStoreDown } from './store-down.ts';

async function main(databaseUrl: string | undefined): Promise<void> {
  if (databaseUrl === undefined || databaseUrl === '') {
    fail('DATABASE_URL is not set. Set it to the PostgreSQL database to migrate.');
    return;
  }
  try {
    const applied = await migrate(databaseUrl, { onWait: console.error });
    console.log(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`);
  } catch (error) {
    fail(sentenceOf(error));
  }
}

function sentenceOf(error: unknown): string {
  if (isStoreDown(error)) {
    return 'The database cannot be reached. Check that PostgreSQL is running and that DATABASE_URL is its address.';
  }
  const reason = error instanceof Error && error.message !== '' ? error.message : 'no reason given';
  return `The database was not migrated: ${reason.split('\n')[0]}`;
}

function fail(sentence: string): void {
  console.error(sentence);
  process.exitCode = 1;
}

readTool({ command: 'npm run db:migrate --', about: 'Brings the schema of the database at DATABASE_URL up to date.' });
await main(process.env.DATABASE_URL);
