import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { buildKey, buildProject } from '../../support/database/build.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { loadCore, serverCore, startService } from './support/bench-process.ts';
import { meterLoad } from './support/cpu.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, printNote, printTable, quantile } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import { apiEnvironment } from './support/site.ts';

const pollMs = 5;
const patienceMs = 60_000;

/** Measures the time from the cancel request until all work for the job has stopped. */
export async function benchCancel(servers: BenchServers, { isQuick }: BenchOptions): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const [database, temporal] = await Promise.all([servers.database(), servers.temporal()]);
  const model = resources.use(await startScriptedModelServer());
  const silent = resources.use(await startSilentHost());
  const repositories = join(servers.directory, 'cancelled');
  const repository = resources.use(await createTestRepository({}, { path: join(repositories, 'docs.git') }));
  const env = {
    ...apiEnvironment(database.url),
    TEMPORAL_ADDRESS: temporal.address,
    DOCKET_LOCAL_REPOSITORIES: repositories,
    DOCKET_ALLOWED_HOSTS: silent.host,
    DOCKET_PRIVATE_HOSTS: silent.host,
    DOCKET_WORK_DIR: join(servers.directory, 'work-cancel'),
    DOCKET_AGENT_MODEL: 'compatible/scripted',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    DOCKET_SELF_REVIEW: 'off',
    OPENAI_COMPATIBLE_API_KEY: 'key-of-the-model',
  };
  const api = resources.use(await startService('api/main.ts', 'api ready', { core: loadCore, env }));
  const worker = resources.use(await startService('worker/main.ts', 'worker ready', { core: serverCore, env }));
  const pool = new Pool({ connectionString: database.url, max: 1 });
  resources.defer(() => pool.end());
  const url = `http://127.0.0.1:${String(api.ready['port'])}`;
  const local = await clientOf(pool, url, repository.path);
  const remote = await clientOf(pool, url, `https://${silent.host}/acme/docs`);

  const call = async () => {
    model.script(
      { toolCalls: [{ name: 'write', input: { path: 'new.txt', content: 'new\n' } }] },
      { text: 'never', stall: true },
    );
    const id = await local.create();
    await model.nextRequest();
    const request = await model.nextRequest();
    return local.cancel(id, () => request.closed);
  };
  const fetch = async () => {
    const id = await remote.create();
    await until(async () => (await gitsOf(worker.pid)) > 0);
    return remote.cancel(id, () => until(async () => (await gitsOf(worker.pid)) === 0));
  };

  const count = isQuick ? 5 : 50;
  const rows: string[][] = [];
  for (const [name, measure] of [
    ['call of the model', call],
    ['git fetch from a host that says nothing', fetch],
  ] as const) {
    const meter = meterLoad();
    const times: number[] = [];
    for (let job = 0; job < count; job += 1) times.push(await measure());
    rows.push([
      name,
      ...[0.5, 0.99, 1].map((share) => figure(quantile(times, share))),
      String(count),
      figure(meter.others()),
    ]);
  }
  printTable(
    'cancel: until the call has ended or the last process is dead',
    ['', 'p50 ms', 'p99 ms', 'slowest', 'n', 'others'],
    rows,
  );
  const refs = (await repository.git('for-each-ref', '--format=%(refname)')).split('\n').length - 1;
  const { rows: requests } = await pool.query('select from pull_requests');
  printNote(`aim: p99 ≤ 2,000 ms. Published afterwards: ${refs} branches and ${requests.length} pull requests.`);
}

interface CancelClient {
  create(): Promise<string>;
  /** Milliseconds from the request to `isOver`. */
  cancel(jobId: string, isOver: () => Promise<unknown>): Promise<number>;
}

async function clientOf(pool: Pool, url: string, repository: string): Promise<CancelClient> {
  const project = await buildProject(pool, { repository, forge: 'local' });
  const { key } = await buildKey(pool, { organizationId: project.organizationId });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  async function post(path: string, body?: unknown): Promise<{ id: string }> {
    const sent = { method: 'POST', headers, body: body === undefined ? undefined : JSON.stringify(body) };
    const response = await globalThis.fetch(`${url}/v2/agent/${project.id}/job${path}`, sent);
    if (!response.ok) throw new Error(`The API answers ${response.status}: ${await response.text()}`);
    return (await response.json()) as { id: string };
  }
  return {
    create: async () => (await post('', { prompt: 'Go' })).id,
    async cancel(jobId, isOver) {
      const from = performance.now();
      await Promise.all([post(`/${jobId}/cancel`), isOver()]);
      return performance.now() - from;
    },
  };
}

/** A host that accepts connections and never answers. */
async function startSilentHost(): Promise<AsyncDisposable & { host: string }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + patienceMs;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error('It did not come to it in time.');
    await sleep(pollMs);
  }
}

/** Counts the living descendants of a process that belong to git. */
async function gitsOf(pid: number): Promise<number> {
  const parents = new Map<number, number>();
  const gits = new Set<number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || parent === undefined) continue;
    parents.set(Number(name), Number(parent));
    if (stat.includes(' (git')) gits.add(Number(name));
  }
  const isOurs = (child: number | undefined): boolean =>
    child !== undefined && child > 1 && (parents.get(child) === pid || isOurs(parents.get(child)));
  return [...gits].filter(isOurs).length;
}
