import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { findFreePort } from '../processes/ports.ts';
import { endLeftoverServer } from './postgres-leftover.ts';
import { findPostgresBinaries, postgresEnvironment } from './postgres-binaries.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { findDataLocation, giveTo } from './data-location.ts';
import type { DataLocation } from './data-location.ts';
import { messageOf, StartError } from '../start-error.ts';
import { superviseProcess } from '../processes/supervised-process.ts';
import type { ReadyCheck, SupervisedProcess, SupervisorHooks } from '../processes/supervised-process.ts';
import { untilSuccess } from '../processes/until-success.ts';
import { codeOf } from '../../lib/error-code.ts';

const execute = promisify(execFile);
const user = 'docket';
const majorVersion = '18';

/** Settings of every server for Docket. */
export const recommendedSettings = {
  max_connections: 200,
  // on an SSD: the planner prefers indexes on small tables as it does on large ones
  random_page_cost: 1.1,
};

export interface PostgresOptions {
  /** Folder for the password and, if the server's account can enter it, the data. */
  directory: string;
  /** Used if it is free. */
  preferredPort?: number;
  /** False trades crash safety for speed, for tests. */
  isDurable?: boolean;
  /** Created if it does not exist. */
  database?: string;
}

export interface PostgresServer extends AsyncDisposable {
  /** URL of the database, with the password. */
  readonly url: string;
  readonly port: number;
  readonly process: SupervisedProcess;
  /** Path of the data directory, which may be outside `directory`. */
  readonly dataDirectory: string;
}

/**
 * Starts a PostgreSQL server on loopback with the data of `directory`, which is created on first use. First ends a
 * server that a killed supervisor left running on the same data. Throws StartError when the server does not start.
 */
export async function startPostgres(options: PostgresOptions, hooks: SupervisorHooks): Promise<PostgresServer> {
  const { directory, isDurable = true, database = 'docket' } = options;
  const location = await findDataLocation(directory);
  const binaries = await findPostgresBinaries(location.account);
  const password = await readOrCreatePassword(directory);
  await createCluster({ location, binaries, password, isDurable });
  const port = await findFreePort(options.preferredPort);
  // the server has no TLS, which PGSSLMODE of the user may ask for
  const urlOf = (name: string) => `postgres://${user}:${password}@127.0.0.1:${port}/${name}?sslmode=disable`;

  const supervised = await superviseProcess(
    {
      name: 'PostgreSQL',
      command: join(binaries.directory, 'bin', 'postgres'),
      args: ['-D', location.data, ...settingsOf(port, isDurable)],
      env: postgresEnvironment(binaries),
      cwd: '/',
      account: location.account ?? undefined,
      stopSignal: 'SIGINT',
      stopTimeoutMs: 2_500,
      startTimeoutMs: 120_000,
      beforeStart: () => endLeftoverServer(location.data),
      untilReady: ({ signal }: ReadyCheck) => untilSuccess(() => ping(urlOf('postgres')), signal),
    },
    { attempts: 3, ...hooks },
  );
  try {
    await createDatabase(urlOf('postgres'), database);
  } catch (error) {
    await supervised[Symbol.asyncDispose]();
    throw error;
  }
  return {
    url: urlOf(database),
    port,
    process: supervised,
    dataDirectory: location.data,
    [Symbol.asyncDispose]: () => supervised[Symbol.asyncDispose](),
  };
}

function settingsOf(port: number, isDurable: boolean): string[] {
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    ...recommendedSettings,
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(isDurable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function readOrCreatePassword(directory: string): Promise<string> {
  const file = join(directory, 'password');
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  const password = randomBytes(24).toString('hex');
  await writeFile(file, password, { mode: 0o600 });
  return password;
}

/**
 * Creates the data directory next to its final location and moves it there when complete, so that an interrupted start
 * leaves no partial one.
 */
async function createCluster(cluster: {
  location: DataLocation;
  binaries: PostgresBinaries;
  password: string;
  isDurable: boolean;
}): Promise<void> {
  const { location, binaries, password, isDurable } = cluster;
  const version = await versionOf(location.data);
  if (version === majorVersion) return;
  if (version !== null) {
    throw new StartError(
      `The data in ${location.data} was written by PostgreSQL ${version}, but this is ${majorVersion}. Move it away, or set DATABASE_URL to a PostgreSQL ${version} that serves them.`,
    );
  }
  const half = `${location.data}.new`;
  const passwordFile = `${location.data}.password`;
  try {
    await rm(half, { recursive: true, force: true });
    await mkdir(half, { recursive: true, mode: 0o700 });
    await giveTo(half, location.account);
    await writeFile(passwordFile, password, { mode: 0o600 });
    await giveTo(passwordFile, location.account);
    const args = [
      '-D',
      half,
      '-U',
      user,
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--encoding=UTF8',
      '--locale=C',
    ];
    await execute(join(binaries.directory, 'bin', 'initdb'), isDurable ? args : [...args, '--no-sync'], {
      env: postgresEnvironment(binaries),
      cwd: dirname(location.data),
      ...location.account,
    });
    await rename(half, location.data);
  } catch (cause) {
    throw new StartError(`PostgreSQL's data directory cannot be created in ${location.data}: ${messageOf(cause)}`, {
      cause,
    });
  } finally {
    await rm(passwordFile, { force: true });
    await rm(half, { recursive: true, force: true });
  }
}

async function versionOf(data: string): Promise<string | null> {
  try {
    return (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  const isPresent = await stat(data).catch(() => null);
  if (isPresent === null) return null;
  throw new StartError(`${data} exists but holds no PostgreSQL data; move it away and start again.`);
}

async function ping(url: string): Promise<void> {
  await withClient(url, (client) => client.query('select 1'));
}

async function createDatabase(url: string, name: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  });
}

async function withClient<T>(connectionString: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined); // a lost connection rejects the query that notices it
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}
