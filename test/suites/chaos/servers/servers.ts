import { chmod, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Connection } from '@temporalio/client';
import { Client } from 'pg';
import { migrate } from '../../../../db/migrate.ts';
import { startPostgres } from '../../../../local/postgres/postgres.ts';
import { findTemporalBinary } from '../../../../local/temporal/temporal-binary.ts';
import { startTemporal } from '../../../../local/temporal/temporal.ts';
import { untilSuccess } from '../../../../local/processes/until-success.ts';
import { guardServers } from '../../../support/servers/guard-servers.ts';
import { createTestHome, removeTestHome } from '../../../support/stack/stack.ts';
import { removeDirectory } from '../../../support/temporary-directory.ts';
import { openMembers, type Member, type Members } from './members.ts';

export interface ChaosServers extends AsyncDisposable {
  home: string;
  /** Folder for the temporary files of the processes. Its path is short enough for podman. */
  temporary: string;
  members: Members;
  postgres: Member;
  temporal: Member;
  temporalAddress: string;
  postgresPort: number;
  /** Its data directory. */
  postgresData: string;
  /** Creates a database without a schema and returns its address. */
  createEmptyDatabase(name: string): Promise<string>;
  /** Does the same with the newest schema. */
  createDatabase(name: string): Promise<string>;
  /** Creates a namespace of Temporal. */
  createNamespace(name: string): Promise<void>;
}

const alreadyExists = 6;

/** Starts a Temporal server other than the development server. */
export type StartTemporal = (options: {
  home: string;
  member: Member;
  databaseUrl: string;
}) => Promise<AsyncDisposable & { address: string }>;

/** PostgreSQL and Temporal for one run, as children of this process, in a home that is deleted with them. */
export async function startServers({
  startTemporalServer = startDevelopmentServer,
}: { startTemporalServer?: StartTemporal } = {}) {
  await using started = new AsyncDisposableStack();
  const home = await createTestHome();
  const temporary = started.adopt(await mkdtemp(join(tmpdir(), 'chaos-')), removeDirectory);
  guardServers(home, dirname(home), temporary); // a signal ends the suite without its teardown
  started.defer(() => removeTestHome(home));
  await mkdir(home, { recursive: true });
  // PostgreSQL and commands run under other accounts when the tests run as root
  for (const folder of [home, temporary]) await chmod(folder, 0o711);
  const members = started.use(await openMembers(home));
  const [postgres, temporal] = [members.add('postgres'), members.add('temporal')];
  const database = started.use(await startPostgres({ directory: join(home, 'postgres') }, postgres.hooks));
  const server = started.use(await startTemporalServer({ home, member: temporal, databaseUrl: database.url }));
  const running = started.move();

  async function createEmptyDatabase(name: string): Promise<string> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    const address = new URL(database.url);
    address.pathname = `/${name}`;
    return address.href;
  }

  return {
    home,
    temporary,
    members,
    postgres,
    temporal,
    temporalAddress: server.address,
    postgresPort: database.port,
    postgresData: database.dataDirectory,
    createEmptyDatabase,
    async createDatabase(name: string) {
      const url = await createEmptyDatabase(name);
      await migrate(url);
      return url;
    },
    createNamespace: (name: string) => createNamespace(server.address, name),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  } satisfies ChaosServers;
}

async function startDevelopmentServer({ home, member }: { home: string; member: Member }) {
  const binary = await findTemporalBinary({ env: process.env, log: (line) => console.log(line) });
  return startTemporal({ binary, directory: join(home, 'temporal'), isHeadless: true }, member.hooks);
}

async function createNamespace(address: string, namespace: string): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    const retention = { seconds: 86_400 as never };
    const { workflowService } = connection;
    // the parts of the server learn of it one after another
    await untilSuccess(async () => {
      await workflowService
        .registerNamespace({ namespace, workflowExecutionRetentionPeriod: retention })
        .catch((error: unknown) => {
          if (!(error instanceof Error) || !('code' in error) || error.code !== alreadyExists) throw error;
        });
      await workflowService.listOpenWorkflowExecutions({ namespace });
    }, AbortSignal.timeout(60_000));
  } finally {
    await connection.close();
  }
}
