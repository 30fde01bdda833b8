import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildGoProgram } from '../../../../local/temporal/go-program.ts';
import { findFreePort } from '../../../../local/processes/ports.ts';
import { superviseProcess } from '../../../../local/processes/supervised-process.ts';
import { readTemporalSettings } from '../../../../lib/temporal/temporal-credentials.ts';
import { untilTemporalAnswers } from '../../../../local/temporal/temporal.ts';
import type { StartTemporal } from './servers.ts';

const execute = promisify(execFile);
const moduleDirectory = join(import.meta.dirname, '../temporal-server');
/** The settings that the operations page asks for. */
const settings = join(import.meta.dirname, '../../../../deploy/temporal-dynamic.yaml');

/** Writes of Temporal that fail, each in this share of its calls; half of them after they were done. */
const failingWrites = [
  'CreateWorkflowExecution',
  'UpdateWorkflowExecution',
  'GetWorkflowExecution',
  'AppendHistoryNodes',
  'GetHistoryTasks',
  'RangeCompleteHistoryTasks',
];

/** Temporal's own server, as it runs in production, on the run's PostgreSQL, whose stores fail in `faults` of the calls. */
export function createProductionServer({ faults }: { faults: number }): StartTemporal {
  return async ({ home, member, databaseUrl }) => {
    const context = { env: process.env, log: (line: string) => console.log(line) };
    const shared = { moduleDirectory, duration: 'about 3 minutes on two cores' };
    const server = await buildGoProgram(
      {
        ...shared,
        source: 'go.temporal.io/server/cmd/server',
        name: 'temporal-server',
        title: 'the real Temporal server',
      },
      context,
    );
    const sql = await buildGoProgram(
      { ...shared, source: 'go.temporal.io/server/cmd/tools/sql', name: 'temporal-sql-tool', title: 'its schema tool' },
      context,
    );
    const directory = join(home, 'temporal-server');
    await mkdir(directory, { recursive: true });
    await layOut(sql, new URL(databaseUrl));
    const ports = await freePorts(9);
    const address = `127.0.0.1:${ports[0]}`;
    const config = configOf({ database: new URL(databaseUrl), ports, faults });
    // JSON is YAML
    await writeFile(join(directory, 'config.yaml'), JSON.stringify(config), { mode: 0o600 });
    const supervised = await superviseProcess(
      {
        name: 'Temporal',
        command: server,
        args: ['--config-file', join(directory, 'config.yaml'), '--allow-no-auth', 'start'],
        env: { HOME: directory, PATH: '/usr/bin:/bin' },
        cwd: directory,
        stopSignal: 'SIGTERM',
        stopTimeoutMs: 5_000,
        startTimeoutMs: 120_000,
        // the namespace that such a server has from the beginning; that of the run is made later
        untilReady: ({ signal }) =>
          untilTemporalAnswers(
            readTemporalSettings({ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'temporal-system' }),
            signal,
          ),
      },
      { attempts: 3, ...member.hooks },
    );
    return { address, [Symbol.asyncDispose]: () => supervised[Symbol.asyncDispose]() };
  };
}

async function layOut(sql: string, { hostname, port, username, password }: URL): Promise<void> {
  const env = {
    SQL_PLUGIN: 'postgres12_pgx',
    SQL_HOST: hostname,
    SQL_PORT: port,
    SQL_USER: username,
    SQL_PASSWORD: decodeURIComponent(password),
  };
  for (const [database, schema] of [
    ['temporal', 'temporal'],
    ['temporal_visibility', 'visibility'],
  ]) {
    const run = (...args: string[]) => execute(sql, ['--db', database!, ...args], { env });
    await run('create');
    await run('setup-schema', '-v', '0.0');
    await run('update-schema', '--schema-name', `postgresql/v12/${schema}`);
  }
}

async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await findFreePort());
  return [...ports];
}

interface Configuration {
  database: URL;
  ports: number[];
  faults: number;
}

function configOf({ database, ports, faults }: Configuration): object {
  const storeOf = (databaseName: string) => ({
    pluginName: 'postgres12_pgx',
    databaseName,
    connectAddr: `${database.hostname}:${database.port}`,
    connectProtocol: 'tcp',
    user: database.username,
    password: decodeURIComponent(database.password),
    maxConns: 10,
    maxIdleConns: 10,
  });
  const errors = { Timeout: faults / 2, ExecuteAndTimeout: faults / 2 };
  const methods = Object.fromEntries(failingWrites.map((name) => [name, { errors }]));
  const faultInjection = { targets: { dataStores: { ExecutionStore: { methods } } } };
  const service = (index: number) => ({
    rpc: { grpcPort: ports[index * 2], membershipPort: ports[index * 2 + 1], bindOnIP: '127.0.0.1' },
  });
  return {
    log: { stdout: true, level: 'error' },
    persistence: {
      numHistoryShards: 4,
      defaultStore: 'default',
      visibilityStore: 'visibility',
      datastores: {
        default: { sql: storeOf('temporal'), ...(faults > 0 ? { faultInjection } : {}) },
        visibility: { sql: storeOf('temporal_visibility') },
      },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: { frontend: service(0), history: service(1), matching: service(2), worker: service(3) },
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `127.0.0.1:${ports[0]}`,
        },
      },
    },
    dynamicConfigClient: { filepath: settings, pollInterval: '10s' },
  };
}
