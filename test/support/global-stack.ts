import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';
import { migrate } from '../../db/migrate.ts';
import { tryLock } from '../../local/processes/lock-file.ts';
import { startPostgres } from '../../local/postgres/postgres.ts';
import { sendSignal } from '../../local/processes/process-identity.ts';
import { openProcessRecord } from '../../local/processes/process-record.ts';
import { findTemporalBinary } from '../../local/temporal/temporal-binary.ts';
import { startTemporal } from '../../local/temporal/temporal.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL database whose user may create others; `docket_template` beside it holds the schema. */
    databaseUrl: string;
    temporalAddress: string;
  }
}

const prefix = 'docket-test-servers-';
const abandonedAfterMs = 10 * 60_000;

/** A version of workers is called drained at once, not after minutes. */
const settings = {
  'matching.wv.VersionDrainageStatusVisibilityGracePeriod': '1s',
  'matching.wv.VersionDrainageStatusRefreshInterval': '1s',
};

/** One PostgreSQL and one Temporal server for all test files of a project, gone when the run ends. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  await using started = new AsyncDisposableStack();
  await removeAbandoned();
  const home = await mkdtemp(join(tmpdir(), prefix));
  started.defer(() => rm(home, { recursive: true, force: true }));
  await chmod(home, 0o711); // PostgreSQL runs under another account when the tests run as root
  const lock = tryLock(join(home, 'lock'));
  if (lock === null) throw new Error(`${home} is locked by another run.`);
  started.use(lock);
  const record = await openProcessRecord(join(home, 'processes.json'));
  const interruption = new AbortController();
  const { signal } = interruption;
  const pids = new Map<string, number | null>();
  started.use(
    atExit(() => {
      interruption.abort(new Error('The run has ended.'));
      // PostgreSQL takes its own processes along at SIGQUIT
      for (const [name, pid] of pids) if (pid !== null) sendSignal(pid, name === 'postgres' ? 'SIGQUIT' : 'SIGKILL');
    }),
  );
  const hooks = (name: string) => ({
    log: (line: string) => console.error(line),
    onPid(pid: number | null) {
      pids.set(name, pid);
      return record.note(name, pid);
    },
    signal,
  });

  const startDatabase = async () => {
    const server = await startPostgres({ directory: join(home, 'postgres'), isDurable: false }, hooks('postgres'));
    started.use(server);
    const template = new URL(server.url);
    template.pathname = '/docket_template';
    await prepareTemplate(server.url, template.href);
    return server;
  };
  const startEngine = async () => {
    const binary = await findTemporalBinary({ env: process.env, log: (line) => console.error(line), signal });
    const directory = join(home, 'temporal');
    return started.use(
      await startTemporal({ binary, directory, isHeadless: true, isDurable: false, settings }, hooks('temporal')),
    );
  };
  const [database, engine] = await Promise.allSettled([startDatabase(), startEngine()]);
  if (database.status === 'rejected') throw database.reason;
  if (engine.status === 'rejected') throw engine.reason;
  project.provide('databaseUrl', database.value.url);
  project.provide('temporalAddress', engine.value.address);
  const running = started.move();
  return () => running.disposeAsync();
}

/** vitest ends at a signal without its teardown, and at once; the servers are in groups of their own. */
function atExit(end: () => void): Disposable {
  const hangUp = () => process.exit(129);
  process.once('exit', end);
  process.once('SIGHUP', hangUp);
  return {
    [Symbol.dispose]() {
      process.off('exit', end);
      process.off('SIGHUP', hangUp);
    },
  };
}

async function prepareTemplate(serverUrl: string, templateUrl: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl });
  await client.connect();
  await client.query('create database docket_template');
  await client.end();
  await migrate(templateUrl);
}

/** Servers and folders of runs that were killed. */
async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(prefix)) continue;
    const home = join(tmpdir(), name);
    const { mtimeMs } = await stat(home).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs < abandonedAfterMs) continue;
    const lock = tryLock(join(home, 'lock'));
    if (lock === null) continue;
    using _lock = lock;
    const record = await openProcessRecord(join(home, 'processes.json'));
    await record.endLeftovers();
    await rm(home, { recursive: true, force: true });
  }
}
