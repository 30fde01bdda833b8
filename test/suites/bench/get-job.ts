import { Pool } from 'pg';
import { buildJob, buildKey, buildProject } from '../../support/database/build.ts';
import { loadCore, serverCore, startBenchProcess, startService, type BenchProcess } from './support/bench-process.ts';
import { cpuSecondsOf, cpuSecondsOfTree, meterLoad } from './support/cpu.ts';
import type { BenchOptions } from './support/options.ts';
import type { PollLoadResult } from './support/poll-load.ts';
import { figure, median, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import { apiEnvironment } from './support/site.ts';

const connectionCounts = [64, 8];
const storedJobs = 10_000;
const polledJobs = 512;
const warmUpSeconds = 4;
/** Short turns, because the speed of a machine drifts. */
const turnsOfRound = 4;

interface Variant {
  name: string;
  pid: number;
  port: number;
}

/** `GET job` with a key and a real database, compared with Koa answering the same bytes from memory. */
export async function benchGetJob(servers: BenchServers, options: BenchOptions): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const database = await servers.database();
  const { key, paths } = await seed(database.url);
  const env = { ...apiEnvironment(database.url), TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const service = { core: serverCore, env, flags: options.serverFlags };
  const api = resources.use(await startService('api/main.ts', 'api ready', service));
  const koa = resources.use(await startBenchProcess('bare-koa', { core: serverCore }));
  const plainKoa = resources.use(await startBenchProcess('bare-koa', { core: serverCore }));
  const load = resources.use(await startBenchProcess('poll-load', { core: loadCore }));

  const port = Number(api.ready['port']);
  const { headers, body } = await answerOf(`http://127.0.0.1:${port}${paths[0]}`, key);
  await koa.ask('answerWith', { headers, body });
  await plainKoa.ask('answerWith', { headers: { 'content-type': headers['content-type'] }, body });
  const variants: Variant[] = [
    { name: 'GET job', pid: api.pid, port },
    { name: 'bare Koa, same bytes', pid: koa.pid, port: await koa.ask('port') },
    { name: 'bare Koa, same body', pid: plainKoa.pid, port: await plainKoa.ask('port') },
  ];
  const requests = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  const compared = { variants, requests, database, load, options };
  for (const connections of connectionCounts) await compare({ ...compared, connections });
}

async function compare({
  variants,
  requests,
  connections,
  database,
  load,
  options,
}: {
  variants: Variant[];
  requests: string[];
  connections: number;
  database: { pid: number };
  load: BenchProcess;
  options: BenchOptions;
}): Promise<void> {
  const measured = variants.map(() => ({
    rates: [] as number[],
    cpu: [] as number[],
    p50: [] as number[],
    p99: [] as number[],
  }));
  const databaseCpu: number[] = [];
  const others: number[] = [];
  for (let turn = 0; turn <= options.rounds * turnsOfRound; turn += 1) {
    const order = [...variants.keys()];
    if (turn % 2 === 1) order.reverse();
    for (const at of order) {
      const { name, pid, port } = variants[at]!;
      const meter = meterLoad();
      const [cpu, stored] = [cpuSecondsOf(pid), cpuSecondsOfTree(database.pid)];
      const seconds = turn === 0 ? Math.min(warmUpSeconds, options.seconds * 2) : options.seconds / turnsOfRound;
      const result = await load.ask<PollLoadResult>('run', { port, requests, connections, seconds });
      if (result.failed > 0) throw new Error(`${result.failed} answers of ${name} were not 200.`);
      if (turn === 0) continue; // warm-up
      others.push(meter.others());
      const values = measured[at]!;
      values.rates.push(result.answered / result.seconds);
      values.cpu.push(((cpuSecondsOf(pid) - cpu) * 1e6) / result.answered);
      values.p50.push(result.p50);
      values.p99.push(result.p99);
      if (at === 0) databaseCpu.push(((cpuSecondsOfTree(database.pid) - stored) * 1e6) / result.answered);
    }
  }
  print(connections, variants, measured);
  printNote(
    `aim: ≥ 0.65 of bare Koa. PostgreSQL used ${figure(median(databaseCpu))} µs a request, others ${figure(median(others))} cores.`,
  );
}

function print(
  connections: number,
  variants: Variant[],
  measured: { rates: number[]; cpu: number[]; p50: number[]; p99: number[] }[],
): void {
  const [own] = measured;
  printTable(
    `get-job: ${connections} connections, ${polledJobs} of ${storedJobs.toLocaleString('en-US')} jobs, one core`,
    ['', 'req/s', 'GET job is', 'CPU µs/req', 'GET job is', 'p50 ms', 'p99 ms'],
    variants.map(({ name }, at) => {
      const { rates, cpu, p50, p99 } = measured[at]!;
      const ratio = (mine: number[] = [], theirs: number[]) =>
        at === 0 ? '–' : `${figure(median(mine) / median(theirs))} ×`;
      return [
        name,
        figure(median(rates)),
        ratio(own?.rates, rates),
        figure(median(cpu)),
        ratio(own?.cpu, cpu),
        figure(median(p50)),
        figure(median(p99)),
      ];
    }),
  );
}

/** A project with many jobs, some of which are requested. */
async function seed(url: string): Promise<{ key: string; paths: string[] }> {
  const pool = new Pool({ connectionString: url, max: 4 });
  try {
    const project = await buildProject(pool);
    const { key } = await buildKey(pool, { organizationId: project.organizationId });
    const jobs = await Promise.all(Array.from({ length: polledJobs }, () => buildJob(pool, project)));
    await pool.query(
      `insert into jobs (id, project_id, organization_id, status, repository, model)
       select 'job_bench' || number, $1, $2, 'completed', $3, 'offline/editor' from generate_series(1, $4) as number
       on conflict do nothing`,
      [project.id, project.organizationId, project.repository, storedJobs - polledJobs],
    );
    // never started
    await pool.query('delete from job_outbox');
    await pool.query('analyze jobs');
    return { key, paths: jobs.map((job) => `/v2/agent/${project.id}/job/${job.id}`) };
  } finally {
    await pool.end();
  }
}

async function answerOf(url: string, key: string): Promise<{ headers: Record<string, string>; body: string }> {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`GET job answers ${response.status}: ${body}`);
  const headers = [...response.headers].filter(
    ([name]) => !['date', 'connection', 'keep-alive', 'content-length'].includes(name),
  );
  return { headers: Object.fromEntries(headers), body };
}
