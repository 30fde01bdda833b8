import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { promptFor } from './support/agent-model.ts';
import { cpuSecondsOf, cpuSecondsOfTree, meterLoad } from './support/cpu.ts';
import { startJobStack, type JobStack } from './support/job-stack.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';

const secondsPerStep = 10;
const warmSeconds = 15;

/** Active jobs that a worker core and a PostgreSQL core carry when each job makes a step every ten seconds. */
export async function benchCapacity(servers: BenchServers, { isQuick }: BenchOptions): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const shape = { apis: 1, workers: 1, organizations: 1, modelMs: secondsPerStep * 1_000, slots: 1_000 };
  const stack = await startJobStack(servers, resources, shape);
  // the first job mirrors the repository
  await stack.organizations[0]?.clients[0]?.create(promptFor({ kind: 'read', steps: 0 }));
  await stack.untilIdle();
  const measured = [];
  for (const jobs of isQuick ? [20] : [25, 50, 100]) measured.push(await measure(stack, jobs, isQuick ? 20 : 40));
  printTable(
    `capacity: active jobs with a step every ${secondsPerStep} s (reads, and a change every 25 steps), one worker process`,
    [
      'active jobs',
      'steps/s',
      '% of wanted',
      'worker CPU ms/step',
      'PostgreSQL ms/step',
      'Temporal ms/step',
      'API ms/step',
      'worker MB',
      'connections',
      'others',
    ],
    measured.map((row) => [
      row.jobs,
      ...[row.stepsPerSecond, (row.stepsPerSecond * secondsPerStep * 100) / row.jobs].map(figure),
      ...[row.worker, row.database, row.temporal, row.api, row.megabytes].map(figure),
      row.connections,
      figure(row.others),
    ]),
  );
  const last = measured.at(-1);
  if (last === undefined) return;
  const carried = (ms: number) => figure((secondsPerStep * 1_000) / ms);
  printNote(
    `one core carries, by the last row: worker ${carried(last.worker)}, PostgreSQL ${carried(last.database)}, Temporal's development server ${carried(last.temporal)} active jobs.`,
  );
  printNote('a model call holds a slot: a worker with 40 slots (the default) has at most 40 calls in progress.');
  printTable('bytes in PostgreSQL per job and per step', ['table', 'per job', 'per step'], await sizes(stack.pool));
}

async function measure({ organizations, pool, pids, untilIdle }: JobStack, jobs: number, seconds: number) {
  const client = organizations[0]?.clients[0];
  if (client === undefined) throw new Error('The stack has no client.');
  const prompt = promptFor({ kind: 'long', steps: Math.ceil((warmSeconds + seconds) / secondsPerStep) + 1 });
  // spread over the time of a step
  for (let made = 0; made < jobs; made += 1) {
    await client.create(prompt);
    await delay((secondsPerStep * 800) / jobs);
  }
  await delay((warmSeconds - secondsPerStep) * 1_000);
  const now = async () => {
    const { rows } = await pool.query<{ steps: number; connections: number }>(
      `select sum(steps)::integer as steps, (
         select count(*)::integer from pg_stat_activity where datname = current_database()
       ) as connections from jobs`,
    );
    return {
      steps: rows[0]?.steps ?? 0,
      connections: rows[0]?.connections ?? 0,
      worker: pids.workers.reduce((sum, pid) => sum + cpuSecondsOfTree(pid), 0),
      api: pids.apis.reduce((sum, pid) => sum + cpuSecondsOf(pid), 0),
      database: cpuSecondsOfTree(pids.database),
      temporal: cpuSecondsOf(pids.temporal),
      at: performance.now(),
    };
  };
  const [meter, from] = [meterLoad(), await now()];
  await delay(seconds * 1_000);
  const to = await now();
  const others = meter.others();
  const megabytes = pids.workers.reduce((sum, pid) => sum + residentMegabytes(pid), 0);
  const steps = to.steps - from.steps;
  const perStep = (name: 'worker' | 'api' | 'database' | 'temporal') => ((to[name] - from[name]) * 1_000) / steps;
  await untilIdle();
  return {
    jobs,
    stepsPerSecond: (steps * 1_000) / (to.at - from.at),
    worker: perStep('worker'),
    database: perStep('database'),
    temporal: perStep('temporal'),
    api: perStep('api'),
    connections: to.connections,
    megabytes,
    others,
  };
}

function residentMegabytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;
}

/** Size of the tables with their indexes, by the jobs that were run. */
async function sizes(pool: Pool): Promise<string[][]> {
  await pool.query('vacuum');
  const { rows } = await pool.query<{ name: string; job: number; step: number }>(
    `with totals as (select count(*)::float8 as jobs, sum(steps)::float8 as steps from jobs), sizes as (
       select relname as name, pg_total_relation_size(oid)::float8 as bytes from pg_class
       where relnamespace = 'public'::regnamespace and (relname ~ '^job' or relname = 'pull_requests') and relkind = 'r'
     )
     select name, bytes / jobs as job, bytes / steps as step from sizes, totals where bytes > 65536
     union all select 'all', sum(bytes) / min(jobs), sum(bytes) / min(steps) from sizes, totals
     order by job desc`,
  );
  return rows.map(({ name, job, step }) => [name, figure(job), figure(step)]);
}
