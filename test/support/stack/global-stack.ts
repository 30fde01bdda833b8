import { chmod, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../../db/migrate.ts';
import { startPostgres } from '../../../local/postgres/postgres.ts';
import { openProcessRecord } from '../../../local/processes/process-record.ts';
import { findTemporalBinary } from '../../../local/temporal/temporal-binary.ts';
import { startTemporal } from '../../../local/temporal/temporal.ts';
import { prepareWorkflowBundle } from '../../../worker/workflow-bundle.ts';
import { guardServers } from '../servers/guard-servers.ts';
import { findThrowawayFolder } from './throwaway-folder.ts';
import { removeDirectory } from '../temporary-directory.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL database whose user may create others; `docket_template` on the same server has the schema. */
    databaseUrl: string;
    temporalAddress: string;
  }
}

/** Reports a worker version as drained after a second instead of minutes. */
const settings = {
  'matching.wv.VersionDrainageStatusVisibilityGracePeriod': '1s',
  'matching.wv.VersionDrainageStatusRefreshInterval': '1s',
};

/** Starts one PostgreSQL and one Temporal server, and builds one workflow bundle, for all projects of a run. */
export async function setup({ vitest }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const run = vitest.getRootProject();
  if ('databaseUrl' in run.getProvidedContext()) return undefined;
  await using started = new AsyncDisposableStack();
  const data = await mkdtemp(join(await findThrowawayFolder(), 'docket-test-data-'));
  await chmod(data, 0o711); // PostgreSQL runs under another account when the tests run as root
  guardServers(data, data); // vitest ends at a signal without its teardown
  started.defer(() => removeDirectory(data));
  const record = await openProcessRecord(join(data, 'processes.json'));
  const { signal } = new AbortController();
  const hooks = (name: string) => ({
    log: (line: string) => console.error(line),
    onPid: (pid: number | null) => record.note(name, pid),
    signal,
  });

  const startDatabase = async () => {
    const server = await startPostgres({ directory: join(data, 'postgres'), isDurable: false }, hooks('postgres'));
    started.use(server);
    const template = new URL(server.url);
    template.pathname = '/docket_template';
    await prepareTemplate(server.url, template.href);
    return server;
  };
  const startEngine = async () => {
    const binary = await findTemporalBinary({ env: process.env, log: (line) => console.error(line), signal });
    const directory = join(data, 'temporal');
    return started.use(
      await startTemporal({ binary, directory, isHeadless: true, isDurable: false, settings }, hooks('temporal')),
    );
  };
  const [database, engine] = await Promise.allSettled([startDatabase(), startEngine(), prepareWorkflowBundle()]);
  if (database.status === 'rejected') throw database.reason;
  if (engine.status === 'rejected') throw engine.reason;
  run.provide('databaseUrl', database.value.url);
  run.provide('temporalAddress', engine.value.address);
  const running = started.move();
  return () => running.disposeAsync();
}

async function prepareTemplate(serverUrl: string, templateUrl: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  await client.query('create database docket_template');
  await client.end();
  await migrate(templateUrl);
}
