import { Agent, get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import { wakeWatchers } from '../../../db/jobs/wake-watchers.ts';
import { buildJob, buildKey, buildProject } from '../../support/database/build.ts';
import { cpuSecondsOf } from './support/cpu.ts';
import { serverCore, startService, type ServiceProcess } from './support/bench-process.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, printNote, printTable, quantile } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import { apiEnvironment } from './support/site.ts';

const eventsPerSecond = 5;

/**
 * The cost of a job's event for the API and PostgreSQL when many people watch the job, through one API process and
 * through two that share the watchers. If two use as much CPU as one for the same watchers, they carry twice as many.
 */
export async function benchWatchers(servers: BenchServers, { isQuick }: BenchOptions): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const database = await servers.database();
  const pool = new Pool({ connectionString: database.url, max: 2, idleTimeoutMillis: 0 });
  // its last notification may still be on its way when the server ends
  pool.on('error', () => undefined);
  resources.defer(() => pool.end());
  const env = {
    ...apiEnvironment(database.url),
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    DOCKET_MAX_EVENT_STREAMS: '1000000',
  };
  const apis: ServiceProcess[] = [];
  for (let started = 0; started < 2; started += 1)
    apis.push(resources.use(await startService('api/main.ts', 'api ready', { core: serverCore, env })));
  const project = await buildProject(pool);
  const { key } = await buildKey(pool, project);
  const most = isQuick ? 200 : 5_000;
  const cases = (isQuick ? [1] : [1, 100, 1_000]).map((watchers) => ({ processes: 1, watchers }));
  // the two take turns
  for (const processes of [1, 2, 2, 1]) cases.push({ processes, watchers: most });
  const rows: (string | number)[][] = [];
  const costs: Record<number, number[]> = { 1: [], 2: [] };
  for (const { processes, watchers } of cases) {
    const { id } = await buildJob(pool, project);
    await pool.query('delete from job_outbox where job_id = $1', [id]); // Temporal does not run here
    const path = `/v2/agent/${project.id}/job/${id}/events`;
    const seconds = isQuick ? 4 : 20;
    const result = await measure(pool, { jobId: id, path, key, watchers, apis: apis.slice(0, processes), seconds });
    if (watchers === most) costs[processes]?.push(result.microseconds);
    rows.push([
      watchers,
      processes,
      ...[result.microseconds, result.transactions, result.idlePerSecond, result.p50, result.p99].map(figure),
      result.lost,
    ]);
  }
  printTable(
    `Watchers of one job, at ${eventsPerSecond} events a second`,
    [
      'watchers',
      'API processes',
      'API µs per event and watcher',
      'transactions per event',
      'idle, per second',
      'p50 ms',
      'p99 ms',
      'lost',
    ],
    rows,
  );
  printNote('aims: at most 30 µs and 2 transactions at 5,000 watchers, the one that appends the event not counted.');
  const [one, two] = [mean(costs[1]), mean(costs[2])];
  printNote(
    `two processes carry ${figure((2 * one) / two)} times the watchers of one with the same CPU each (aim: 2).`,
  );
}

function mean(values: number[] = []): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

interface Measurement {
  jobId: string;
  path: string;
  key: string;
  watchers: number;
  /** Each has the same share of the watchers. */
  apis: ServiceProcess[];
  seconds: number;
}

async function measure(pool: Pool, { jobId, path, key, watchers, apis, seconds }: Measurement) {
  const agent = new Agent({ maxSockets: Infinity });
  const latencies: number[] = [];
  const responses: IncomingMessage[] = [];
  const urls = apis.map(({ ready }) => `http://127.0.0.1:${String(ready['port'])}${path}`);
  const cpuSeconds = () => apis.reduce((sum, { pid }) => sum + cpuSecondsOf(pid), 0);
  for (let opened = 0; opened < watchers; opened += 50)
    responses.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(50, watchers - opened) }, (_, at) =>
          open(urls[at % urls.length]!, { agent, key }),
        ),
      )),
    );
  for (const response of responses)
    response.on('data', (chunk: Buffer) => {
      for (const [, saidAt] of chunk.toString().matchAll(/"saidAt":(\d+)/g))
        latencies.push(Date.now() - Number(saidAt));
    });
  const idle = { commits: await commitsOf(pool), at: performance.now() };
  const before = { cpu: cpuSeconds(), commits: await commitsOf(pool), at: performance.now() };
  const idlePerMs = (before.commits - idle.commits) / (before.at - idle.at);
  const events = seconds * eventsPerSecond;
  for (let event = 0; event < events; event += 1) {
    const text = [{ type: 'text', data: { attempt: 1, offset: event, text: 'x'.repeat(80), saidAt: Date.now() } }];
    await pool.query('select append_job_events($1, 1, 1, $2)', [jobId, JSON.stringify(text)]);
    wakeWatchers(pool, jobId);
    await delay(1_000 / eventsPerSecond);
  }
  const after = { cpu: cpuSeconds(), commits: await commitsOf(pool), at: performance.now() };
  for (const response of responses) response.destroy();
  agent.destroy();
  return {
    microseconds: ((after.cpu - before.cpu) * 1e6) / events / watchers,
    transactions: (after.commits - before.commits - idlePerMs * (after.at - before.at)) / events - 1,
    idlePerSecond: idlePerMs * 1_000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    lost: events * watchers - latencies.length,
  };
}

function open(url: string, { agent, key }: { agent: Agent; key: string }): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
  return new Promise((resolve, reject) => {
    get(url, { agent, headers }, (response) => {
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`A watcher was answered with ${response.statusCode}.`));
    }).on('error', reject);
  });
}

/** An idle session of PostgreSQL reports its transactions after at most ten seconds. */
async function commitsOf(pool: Pool): Promise<number> {
  await delay(11_000);
  const { rows } = await pool.query(
    'select xact_commit::float8 as commits from pg_stat_database where datname = current_database()',
  );
  return rows[0]?.commits;
}
