import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { Pool } from 'pg';
import { jobWorkflowId } from '../../../workflows/contract/messages.ts';
import { buildKey, buildProject } from '../../support/database/build.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { promptFor } from './support/agent-model.ts';
import { loadCore, serverCore, startBenchProcess, startService } from './support/bench-process.ts';
import { cpuSecondsOf } from './support/cpu.ts';
import { createJobClient } from './support/job-client.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, median, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import { apiEnvironment } from './support/site.ts';

const modelName = 'compatible/bench';
const window = 128_000;
const repositoryFiles = 50;

/** One job with very many steps: the cost of a step at its start and end, and what is stored of it. */
export async function benchLongJob(servers: BenchServers, { isQuick, serverFlags }: BenchOptions): Promise<void> {
  const steps = isQuick ? 300 : 2_000;
  await using resources = new AsyncDisposableStack();
  const [database, temporal] = await Promise.all([servers.database(), servers.temporal()]);
  const repositories = join(servers.directory, 'long-job-repositories');
  const page = 'A line of a page, as long as lines of pages are.\n'.repeat(50);
  const files = Array.from({ length: repositoryFiles }, (_, at) => [`docs/page-${at}.md`, `# Page ${at}\n\n${page}`]);
  const repository = resources.use(
    await createTestRepository(Object.fromEntries(files), { path: join(repositories, 'docs.git') }),
  );
  const env = {
    ...apiEnvironment(database.url),
    TEMPORAL_ADDRESS: temporal.address,
    OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1',
    DOCKET_SELF_REVIEW: 'off',
    DOCKET_LOCAL_REPOSITORIES: repositories,
    DOCKET_WORK_DIR: join(servers.directory, 'long-job-work'),
    DOCKET_MAX_STEPS: '10000',
    DOCKET_MAX_TOKENS: '1000000000',
    DOCKET_MODEL_PRICES: JSON.stringify({ [modelName]: { input: 1, output: 1, window } }),
  };
  const api = resources.use(await startService('api/main.ts', 'api ready', { core: loadCore, env }));
  const worker = resources.use(await startBenchProcess('bench-worker', { core: serverCore, env, flags: serverFlags }));
  const pool = new Pool({ connectionString: database.url, max: 2 });
  resources.defer(() => pool.end());
  const project = await buildProject(pool, { repository: repository.path, forge: 'local', model: modelName });
  const { key } = await buildKey(pool, { organizationId: project.organizationId });
  const connection = await Connection.connect({ address: temporal.address });
  resources.defer(() => connection.close());
  const jobs = createJobClient({ url: `http://127.0.0.1:${String(api.ready['port'])}`, key, projectId: project.id });

  await jobs.untilEnded(await jobs.create(promptFor({ kind: 'long', steps: 5 })));
  const memory: number[] = [];
  const cpu: CpuSample[] = [];
  const sampler = setInterval(() => {
    cpu.push({ atMs: Date.now(), cpuMs: cpuSecondsOf(worker.pid) * 1_000 });
    void residentMb(worker.pid).then((mb) => memory.push(mb));
  }, 250);
  const id = await jobs.create(promptFor({ kind: 'long', steps }));
  await jobs.untilEnded(id).finally(() => clearInterval(sampler));

  const starts = await stepStarts(pool, id);
  const times = starts.slice(1).map((start, at) => start - (starts[at] ?? start));
  const part = Math.floor(times.length / 5);
  const used = starts.map((start) => cpuMsAt(cpu, start));
  const parts = [0, 1, 2, 3, 4].map((at) => ({ from: at * part, to: (at + 1) * part }));
  const rowOf = (name: string, fifths: number[]) => [
    name,
    ...fifths.map(figure),
    figure((fifths[4] ?? 0) / (fifths[0] ?? 1)),
  ];
  printTable(
    `long-job: ${steps} steps in one job`,
    ['a step', 'first fifth', 'second', 'third', 'fourth', 'last', 'last / first'],
    [
      rowOf(
        'median ms',
        parts.map(({ from, to }) => median(times.slice(from, to))),
      ),
      rowOf(
        'CPU ms of the worker',
        parts.map(({ from, to }) => ((used[to] ?? 0) - (used[from] ?? 0)) / part),
      ),
    ],
  );
  const kept = await transcriptOf(pool, id);
  const history = await historyOf(new Client({ connection }), jobWorkflowId(id, 1));
  const tenth = Math.max(1, Math.floor(memory.length / 10));
  printTable(
    'long-job: what it kept',
    ['transcript tokens', 'compactions', 'runs', 'events/step', 'bytes/step', 'largest payload', 'MB begin', 'MB end'],
    [
      [
        figure(kept.characters / 4),
        String(kept.compactions),
        String(history.runs),
        figure(history.events / steps),
        figure(history.bytes / steps),
        figure(history.largest),
        figure(median(memory.slice(0, tenth))),
        figure(median(memory.slice(-tenth))),
      ],
    ],
  );
  printNote(
    'aim: steps get neither slower nor dearer, ≤ 7 events and ≤ 1,126 bytes a step, no payload above 65,536 bytes.',
  );
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1_024;
}

interface CpuSample {
  atMs: number;
  cpuMs: number;
}

/** Returns the CPU time that was used at a time, between the two samples around it. */
function cpuMsAt(samples: CpuSample[], atMs: number): number {
  const next = samples.find((sample) => sample.atMs >= atMs) ?? samples.at(-1);
  const last = samples.findLast((sample) => sample.atMs < atMs) ?? next;
  if (next === undefined || last === undefined) return Number.NaN;
  if (next.atMs === last.atMs) return last.cpuMs;
  return last.cpuMs + ((atMs - last.atMs) / (next.atMs - last.atMs)) * (next.cpuMs - last.cpuMs);
}

/** Times in ms since 1970 at which the steps started. */
async function stepStarts(pool: Pool, jobId: string): Promise<number[]> {
  const { rows } = await pool.query<{ ms: number }>(
    `select (extract(epoch from started_at) * 1000)::float8 as ms from job_steps where job_id = $1 order by step`,
    [jobId],
  );
  return rows.map(({ ms }) => ms);
}

async function transcriptOf(pool: Pool, jobId: string): Promise<{ characters: number; compactions: number }> {
  const { rows } = await pool.query<{ characters: number; compactions: number }>(
    `select (select sum(length(response::text) + length(coalesce(tool_results::text, ''))) from job_steps
             where job_id = $1)::float8 as characters,
            (select count(*) from job_compactions where job_id = $1)::int as compactions`,
    [jobId],
  );
  return rows[0] ?? { characters: 0, compactions: 0 };
}

/** All runs of the turn together. */
async function historyOf(client: Client, workflowId: string) {
  const sum = { runs: 0, events: 0, bytes: 0, largest: 0 };
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  for (let runId = raw.workflowExecutionInfo?.firstRunId ?? undefined; runId !== undefined && runId !== '';) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const { events } = await handle.fetchHistory();
    const { historyLength, historySize } = await handle.describe();
    sum.runs += 1;
    sum.events += historyLength;
    sum.bytes += historySize ?? 0;
    sum.largest = Math.max(sum.largest, largestPayload(events));
    runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return sum;
}

function largestPayload(value: unknown): number {
  if (value instanceof Uint8Array) return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Math.max(0, ...Object.values(value).map(largestPayload));
}
