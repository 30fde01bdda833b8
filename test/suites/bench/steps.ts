import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { Pool } from 'pg';
import { jobWorkflowId } from '../../../workflows/contract/messages.ts';
import { buildKey, buildProject } from '../../support/database/build.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { promptFor, stepKinds } from './support/agent-model.ts';
import type { StepKind } from './support/agent-model.ts';
import { loadCore, serverCore, startBenchProcess, startService } from './support/bench-process.ts';
import type { BenchProcess } from './support/bench-process.ts';
import type { SentStatements } from './support/count-statements.ts';
import { cpuSecondsOf, cpuSecondsOfTree, meterLoad } from './support/cpu.ts';
import { createJobClient } from './support/job-client.ts';
import type { JobClient } from './support/job-client.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, median, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import { apiEnvironment } from './support/site.ts';

const fewSteps = 2;
const jobsAtOnce = 8;
const repositoryFiles = 50;
/** Polls of a job cost transactions, too. */
const seldomMs = 250;

interface Bench {
  /** Notices the end of a job at once. */
  jobs: JobClient;
  /** Polls seldom. */
  patient: JobClient;
  worker: BenchProcess;
  client: Client;
  pool: Pool;
  /** Transactions a second while no job runs. */
  idleRate: number;
  pids: { worker: number; database: number; temporal: number };
}

/** Jobs through the real API, Temporal, database and git, with a model that answers at once. */
export async function benchSteps(servers: BenchServers, options: BenchOptions): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const bench = await startBench(servers, options, resources);
  await benchLatency(bench, options);
  const rows = [];
  for (const kind of stepKinds) rows.push(await benchKind(bench, kind, options.isQuick ? 12 : 32));
  printTable(
    `steps: ${jobsAtOnce} jobs at once; a step is one model call and one tool call`,
    [
      '',
      'steps/s',
      'worker CPU ms',
      'steps/CPU s',
      'Temporal ms',
      'PostgreSQL ms',
      'transactions/step',
      'statements/step',
      'of the API',
      'WAL KB/step',
      'events/step',
      'bytes/step',
      'worker ms/job',
      'others',
    ],
    rows,
  );
  printNote(
    `idle: ${figure(bench.idleRate)} transactions a second (aim: ≤ 2), which are not in the figures of a step.`,
  );
  printNote(
    'aim: ≤ 5 transactions and ≤ 12 statements a step, both of the worker; those of the API are polls of the jobs.',
  );
  printNote('aim: ≤ 7 events and ≤ 1,126 bytes of history a step; worker CPU ≤ 20 ms a step, ≤ 40 ms with a snapshot.');
  printNote('The CPU is that of one more step, git included; worker ms/job is what a job costs besides its steps.');
}

async function startBench(
  servers: BenchServers,
  options: BenchOptions,
  resources: AsyncDisposableStack,
): Promise<Bench> {
  const [database, temporal] = await Promise.all([servers.database(), servers.temporal()]);
  const repositories = join(servers.directory, 'repositories');
  const files = Array.from({ length: repositoryFiles }, (_, page) => [
    `docs/page-${page}.md`,
    `# Page ${page}\n\nText.\n`,
  ]);
  const repository = resources.use(
    await createTestRepository(Object.fromEntries(files), { path: join(repositories, 'docs.git') }),
  );
  const env = {
    ...apiEnvironment(database.url),
    TEMPORAL_ADDRESS: temporal.address,
    DOCKET_LOCAL_REPOSITORIES: repositories,
    DOCKET_WORK_DIR: join(servers.directory, 'work'),
    DOCKET_MAX_STEPS: '1000',
  };
  const api = resources.use(await startService('api/main.ts', 'api ready', { core: loadCore, env }));
  const service = { core: serverCore, env, flags: options.serverFlags };
  const worker = resources.use(await startBenchProcess('bench-worker', service));

  const pool = new Pool({ connectionString: database.url, max: 1 });
  resources.defer(() => pool.end());
  const project = await buildProject(pool, { repository: repository.path, forge: 'local' });
  const { key } = await buildKey(pool, { organizationId: project.organizationId });
  const connection = await Connection.connect({ address: temporal.address });
  resources.defer(() => connection.close());
  const url = `http://127.0.0.1:${String(api.ready['port'])}`;
  const user = { url, key, projectId: project.id };
  return {
    jobs: createJobClient(user),
    patient: createJobClient({ ...user, pollMs: seldomMs }),
    worker,
    client: new Client({ connection }),
    pool,
    idleRate: await idleRateOf(pool),
    pids: { worker: worker.pid, database: database.pid, temporal: temporal.pid },
  };
}

/** From the request that creates a job to the response with its pull request. */
async function benchLatency({ jobs }: Bench, { isQuick }: BenchOptions): Promise<void> {
  const times: number[] = [];
  const meter = meterLoad();
  for (let job = 0; job <= (isQuick ? 2 : 5); job += 1) {
    const from = performance.now();
    const link = await jobs.untilEnded(await jobs.create(promptFor({ kind: 'write', steps: 1 })));
    if (link === null) throw new Error('A job made no pull request.');
    if (job > 0) times.push(performance.now() - from); // the first one mirrors the repository
  }
  printTable(
    'steps: from POST to the pull request, one job at a time, one file changed in one step',
    ['p50 ms', 'fastest', 'slowest', 'others'],
    [[figure(median(times)), figure(Math.min(...times)), figure(Math.max(...times)), figure(meter.others())]],
  );
}

/** Measures one step as the difference between long and short jobs, which leaves out what every job costs. */
async function benchKind(bench: Bench, kind: StepKind, manySteps: number): Promise<string[]> {
  const short = await runJobs(bench, { kind, steps: fewSteps, since: await workSoFar(bench) });
  const long = await runJobs(bench, { kind, steps: manySteps, since: short.work });
  const more = manySteps - fewSteps;
  const perStep = (name: keyof JobsCost['cost']) => (long.cost[name] - short.cost[name]) / jobsAtOnce / more;
  const worker = perStep('worker');
  const [fewEvents, manyEvents] = [await historyOf(bench.client, short.id), await historyOf(bench.client, long.id)];
  return [
    kind,
    figure(long.stepsPerSecond),
    figure(worker),
    figure(1_000 / worker),
    figure(perStep('temporal')),
    figure(perStep('database')),
    figure(perStep('transactions')),
    figure(perStep('statements')),
    figure(perStep('others')),
    figure(perStep('walBytes') / 1_024),
    figure((manyEvents.events - fewEvents.events) / more),
    figure((manyEvents.bytes - fewEvents.bytes) / more),
    figure(short.cost.worker / jobsAtOnce - fewSteps * worker),
    figure(long.others),
  ];
}

interface JobsCost {
  /** One of the jobs. */
  id: string;
  /** CPU in ms; the worker's transactions and statements; transactions of others; WAL. */
  cost: Record<'worker' | 'temporal' | 'database' | 'transactions' | 'statements' | 'others' | 'walBytes', number>;
  stepsPerSecond: number;
  others: number;
  work: WorkSoFar;
}

async function runJobs(
  bench: Bench,
  { kind, steps, since }: { kind: StepKind; steps: number; since: WorkSoFar },
): Promise<JobsCost> {
  const { patient: jobs, idleRate, pids } = bench;
  const cpuOfAll = () => ({
    worker: cpuSecondsOfTree(pids.worker),
    temporal: cpuSecondsOf(pids.temporal),
    database: cpuSecondsOfTree(pids.database),
  });
  const [meter, before, from] = [meterLoad(), cpuOfAll(), performance.now()];
  const prompt = promptFor({ kind, steps });
  const ids = await Promise.all(Array.from({ length: jobsAtOnce }, () => jobs.create(prompt)));
  await Promise.all(ids.map((id) => jobs.untilEnded(id)));
  const seconds = (performance.now() - from) / 1_000;
  const after = cpuOfAll();
  const others = meter.others();
  const work = await workSoFar(bench);
  const transactions = work.sent.transactions - since.sent.transactions;
  const ms = (name: keyof typeof after) => (after[name] - before[name]) * 1_000;
  return {
    id: ids[0] ?? '',
    cost: {
      worker: ms('worker'),
      temporal: ms('temporal'),
      database: ms('database'),
      transactions,
      statements: work.sent.statements - since.sent.statements,
      others: work.transactions - since.transactions - transactions - idleRate * (work.at - since.at),
      walBytes: work.walBytes - since.walBytes,
    },
    // every job ends with a step that finishes it
    stepsPerSecond: (jobsAtOnce * (steps + 1)) / seconds,
    others,
    work,
  };
}

interface WorkSoFar extends DatabaseWork {
  /** By the worker. */
  sent: SentStatements;
}

async function workSoFar({ pool, worker }: Bench): Promise<WorkSoFar> {
  const work = await databaseWork(pool);
  return { ...work, sent: await worker.ask<SentStatements>('sent') };
}

interface DatabaseWork {
  transactions: number;
  walBytes: number;
  /** In seconds. */
  at: number;
}

/** An idle connection reports its transactions after at most ten seconds. */
const reportedAfterMs = 11_000;

/** Processes poll less often once there has been no work for this time. */
const quietAfterMs = 20_000;

/** Transactions and WAL of the database so far. */
async function databaseWork(pool: Pool): Promise<DatabaseWork> {
  await delay(reportedAfterMs);
  const { rows } = await pool.query<Omit<DatabaseWork, 'at'>>(`
    select xact_commit::float8 as transactions, (pg_current_wal_lsn() - '0/0')::float8 as "walBytes"
    from pg_stat_database where datname = current_database()`);
  const [work] = rows;
  if (work === undefined) throw new Error('PostgreSQL has no statistics of the database.');
  return { ...work, at: performance.now() / 1_000 };
}

async function idleRateOf(pool: Pool): Promise<number> {
  await delay(quietAfterMs);
  const [from, to] = [await databaseWork(pool), await databaseWork(pool)];
  return (to.transactions - from.transactions) / (to.at - from.at);
}

async function historyOf(client: Client, jobId: string): Promise<{ events: number; bytes: number }> {
  const described = await client.workflow.getHandle(jobWorkflowId(jobId, 1)).describe();
  return { events: described.historyLength, bytes: described.historySize ?? Number.NaN };
}
