import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Pool } from 'pg';
import { jobWorkflowId } from '../../../workflows/contract/messages.ts';
import { buildKey, buildProject } from '../../support/build.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { promptFor, stepKinds } from './support/agent-model.ts';
import type { StepKind } from './support/agent-model.ts';
import { loadCore, serverCore, startBenchProcess, startService } from './support/bench-process.ts';
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

interface Bench {
  jobs: JobClient;
  client: Client;
  pids: { worker: number; database: number; temporal: number };
}

/** Jobs through the real API, Temporal, database and git, with a model that does not think. */
export async function benchSteps(servers: BenchServers, options: BenchOptions): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const bench = await startBench(servers, options, resources);
  await benchLatency(bench, options);
  const rows = [];
  for (const kind of stepKinds) rows.push(await benchKind(bench, kind, options.isQuick ? 5 : 20));
  printTable(
    `steps: ${jobsAtOnce} jobs at once; a step is one model call and one tool call`,
    [
      '',
      'steps/s',
      'worker CPU ms',
      'steps/CPU s',
      'Temporal ms',
      'PostgreSQL ms',
      'events/step',
      'bytes/step',
      'others',
    ],
    rows,
  );
  printNote('aim: ≤ 12 events and ≤ 3,072 bytes of history a step. The CPU is that of one step, git included.');
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
  const project = await buildProject(pool, { repository: repository.path, forge: 'local' });
  const { key } = await buildKey(pool, { organizationId: project.organizationId });
  await pool.end();
  const connection = await Connection.connect({ address: temporal.address });
  resources.defer(() => connection.close());
  const url = `http://127.0.0.1:${String(api.ready['port'])}`;
  return {
    jobs: createJobClient({ url, key, projectId: project.id }),
    client: new Client({ connection }),
    pids: { worker: worker.pid, database: database.pid, temporal: temporal.pid },
  };
}

/** From the request that creates a job to the answer that has its pull request. */
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

async function benchKind({ jobs, client, pids }: Bench, kind: StepKind, manySteps: number): Promise<string[]> {
  const shortJob = await jobs.create(promptFor({ kind, steps: fewSteps }));
  await jobs.untilEnded(shortJob);
  const cpuOfAll = () => ({
    worker: cpuSecondsOfTree(pids.worker),
    temporal: cpuSecondsOf(pids.temporal),
    database: cpuSecondsOfTree(pids.database),
  });
  const [meter, before, from] = [meterLoad(), cpuOfAll(), performance.now()];
  const prompt = promptFor({ kind, steps: manySteps });
  const ids = await Promise.all(Array.from({ length: jobsAtOnce }, () => jobs.create(prompt)));
  await Promise.all(ids.map((id) => jobs.untilEnded(id)));
  const seconds = (performance.now() - from) / 1_000;
  const after = cpuOfAll();
  // every job ends with a step that finishes it
  const steps = jobsAtOnce * (manySteps + 1);
  const msPerStep = (name: keyof typeof after) => ((after[name] - before[name]) * 1_000) / steps;
  const [short, long] = [await historyOf(client, shortJob), await historyOf(client, ids[0] ?? '')];
  const more = manySteps - fewSteps;
  return [
    kind,
    figure(steps / seconds),
    figure(msPerStep('worker')),
    figure(1_000 / msPerStep('worker')),
    figure(msPerStep('temporal')),
    figure(msPerStep('database')),
    figure((long.events - short.events) / more),
    figure((long.bytes - short.bytes) / more),
    figure(meter.others()),
  ];
}

async function historyOf(client: Client, jobId: string): Promise<{ events: number; bytes: number }> {
  const described = await client.workflow.getHandle(jobWorkflowId(jobId, 1)).describe();
  return { events: described.historyLength, bytes: described.historySize ?? Number.NaN };
}
