import { mkdir, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Pool } from 'pg';
import { parseLogLine } from '../../../local/processes/log-lines.ts';
import { findFreePort } from '../../../local/processes/ports.ts';
import { superviseProcess, type ProcessSpec } from '../../../local/processes/supervised-process.ts';
import { untilSuccess } from '../../../local/processes/until-success.ts';
import { keepCompiledCode } from '../../../lib/compile-cache.ts';
import { buildKey, buildOrganization, testPepper } from '../../support/database/build.ts';
import type { Member } from './servers/members.ts';
import type { ChaosServers } from './servers/servers.ts';

export interface LaneOptions {
  servers: ChaosServers;
  /** Names its database, its namespace and its processes. */
  name: string;
  workers?: number;
  /** The programs; a test may wrap the parts of one. */
  entries?: { api?: string; worker?: string };
  /** Variables for the API and the workers. */
  env?: NodeJS.ProcessEnv;
  /** Additional variables for the workers. */
  workerEnv?: NodeJS.ProcessEnv;
  apiEnv?: NodeJS.ProcessEnv;
  /** Prefixes the command of one worker, for example to start it in its own network. */
  enterWorker?(index: number): readonly string[];
  /** Arguments of Node for every process of the lane. */
  nodeArgs?: string[];
}

/** An API and workers with their own database and namespace, on servers that lanes share. */
export interface Lane extends AsyncDisposable {
  home: string;
  databaseUrl: string;
  namespace: string;
  pool: Pool;
  baseUrl: string;
  adminKey: string;
  organizationId: string;
  api: Member;
  workers: Member[];
}

const checkout = resolve(import.meta.dirname, '../../..');
const exitWithParent = pathToFileURL(join(checkout, 'local/processes/exit-with-parent.ts')).href;

export async function startLane(options: LaneOptions): Promise<Lane> {
  const { servers, name, workers: workerCount = 1, entries = {}, env = {} } = options;
  keepCompiledCode(process.env); // as `npm start` does for the processes that it starts
  await using started = new AsyncDisposableStack();
  const home = join(servers.home, name);
  const repositories = join(home, 'repositories');
  await mkdir(repositories, { recursive: true });
  const databaseUrl = await servers.createDatabase(name);
  await servers.createNamespace(name);
  const pool = new Pool({ connectionString: databaseUrl, max: 3 });
  pool.on('error', () => undefined); // the server is killed
  started.defer(() => pool.end());
  const organization = await buildOrganization(pool, { name: 'Chaos' });
  const { key } = await buildKey(pool, { organizationId: organization.id });
  const port = await findFreePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const shared: NodeJS.ProcessEnv = {
    // `DOCKET_SANDBOX=podman npm run chaos -- image` runs commands in containers
    DOCKET_SANDBOX: process.env['DOCKET_SANDBOX'],
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TMPDIR: servers.temporary,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    LOG_LEVEL: 'info',
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: servers.temporalAddress,
    TEMPORAL_NAMESPACE: name,
    DOCKET_KEY_PEPPER: testPepper,
    DOCKET_LOCAL_REPOSITORIES: repositories,
    DOCKET_CACHE_DIR: join(home, 'cache'),
    DOCKET_BASE_URL: baseUrl,
    DOCKET_JOBS_PER_HOUR: '1000000',
    DOCKET_ORGANIZATION_JOBS_PER_HOUR: '1000000',
    DOCKET_MAX_ACTIVE_JOBS: '1000000',
    DOCKET_SUPERVISOR_PID: String(process.pid),
    PORT: String(port),
    ...env,
  };
  const specOf = (member: Member, program: string, more: NodeJS.ProcessEnv): Omit<ProcessSpec, 'untilReady'> => ({
    name: member.name,
    command: process.execPath,
    args: [...(options.nodeArgs ?? []), '--import', exitWithParent, join(checkout, program)],
    env: { ...shared, ...more },
    cwd: checkout,
    stopSignal: 'SIGTERM',
    stopTimeoutMs: 4_000,
    startTimeoutMs: 180_000,
  });
  const startApi = async () => {
    const member = servers.members.add(`${name}-api`);
    const spec = {
      ...specOf(member, entries.api ?? 'api/main.ts', options.apiEnv ?? {}),
      untilReady: ({ signal }: { signal: AbortSignal }) =>
        untilSuccess(async () => {
          const response = await fetch(`${baseUrl}/healthz`, { signal });
          await response.body?.cancel();
          if (!response.ok) throw new Error(`The API answers ${response.status}.`);
        }, signal),
    };
    started.use(await superviseProcess(spec, member.hooks));
    return member;
  };
  const startWorker = async (index: number) => {
    const member = servers.members.add(`${name}-worker-${index}`);
    const own = { DOCKET_WORK_DIR: join(home, `work-${index}`), ...options.workerEnv };
    const worker = specOf(member, entries.worker ?? 'worker/main.ts', own);
    const [command = worker.command, ...args] = [
      ...(options.enterWorker?.(index) ?? []),
      worker.command,
      ...worker.args,
    ];
    const spec: ProcessSpec = {
      ...worker,
      command,
      args,
      untilReady: ({ untilLine }) => untilLine((line) => parseLogLine(line)?.message === 'worker ready'),
    };
    started.use(await superviseProcess(spec, member.hooks));
    return member;
  };
  const api = await startApi();
  const workers = await Promise.all(Array.from({ length: workerCount }, (_, index) => startWorker(index + 1)));
  const running = started.move();
  return {
    home,
    databaseUrl,
    namespace: name,
    pool,
    baseUrl,
    adminKey: key,
    organizationId: organization.id,
    api,
    workers,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Reports whether a worker has unpacked the image, which its commands run in. */
export async function hasUnpacked({ home, workers }: Pick<Lane, 'home' | 'workers'>): Promise<boolean> {
  const folders = workers.map((_, index) => join(home, `work-${index + 1}`, 'images'));
  const entries = await Promise.all(folders.map((folder) => readdir(folder).catch(() => [])));
  return entries.flat().some((entry) => /^[\da-f]{64}$/.test(entry));
}
