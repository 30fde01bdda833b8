import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../../../db/migrate.ts';
import { startPostgres } from '../../../../local/postgres/postgres.ts';
import { openProcessRecord } from '../../../../local/processes/process-record.ts';
import type { ProcessRecord } from '../../../../local/processes/process-record.ts';
import { findTemporalBinary } from '../../../../local/temporal/temporal-binary.ts';
import { startTemporal } from '../../../../local/temporal/temporal.ts';
import { guardServers } from '../../../support/servers/guard-servers.ts';
import { loadCore, pin } from './bench-process.ts';

/** The servers shared by the benches; each is started when it is first needed. */
export interface BenchServers extends AsyncDisposable {
  /** A folder that is removed with the servers. */
  directory: string;
  database(): Promise<{ url: string; pid: number }>;
  /** A database that flushes its WAL at each commit. */
  durableDatabase(): Promise<{ url: string; pid: number }>;
  temporal(): Promise<{ address: string; pid: number }>;
}

/** Real servers in a temporary folder, on the core of the load generator. */
export async function createBenchServers(): Promise<BenchServers> {
  await using started = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'docket-bench-'));
  guardServers(directory, directory); // a signal ends the bench without its teardown
  started.defer(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
  await chmod(directory, 0o711); // PostgreSQL runs under another account when the bench runs as root
  const record = await openProcessRecord(join(directory, 'processes.json'));
  let database: Promise<{ url: string; pid: number }> | null = null;
  let durable: Promise<{ url: string; pid: number }> | null = null;
  let temporal: Promise<{ address: string; pid: number }> | null = null;

  async function startDatabase(name: string, isDurable: boolean) {
    const server = await startPostgres({ directory: join(directory, name), isDurable }, hooksOf(name, record));
    resources.use(server);
    const pid = server.process.pid ?? 0;
    pin(pid, loadCore);
    await migrate(server.url);
    return { url: server.url, pid };
  }

  async function startTemporalServer() {
    const binary = await findTemporalBinary({ env: process.env, log: (line) => console.error(line) });
    const server = await startTemporal(
      { binary, directory: join(directory, 'temporal'), isHeadless: true },
      hooksOf('temporal', record),
    );
    resources.use(server);
    return { address: server.address, pid: server.process.pid ?? 0 };
  }

  const resources = started.move();
  return {
    directory,
    database: () => (database ??= startDatabase('postgres', process.env['BENCH_DURABLE'] === '1')),
    durableDatabase: () => (durable ??= startDatabase('durable', true)),
    temporal: () => (temporal ??= startTemporalServer()),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function hooksOf(name: string, record: ProcessRecord) {
  return { log: (line: string) => console.error(line), onPid: (pid: number | null) => record.note(name, pid) };
}
