import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import { promptFor } from './support/agent-model.ts';
import { meterLoad } from './support/cpu.ts';
import { startJobStack } from './support/job-stack.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';

const sampleEveryMs = 50;
const steps = 5;

/**
 * Measures contention between many processes: samples of sessions that wait for a lock, deadlocks, and how long jobs of small organizations
 * wait behind those of a large one.
 */
export async function benchContention(servers: BenchServers, { isQuick }: BenchOptions): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const shape = isQuick ? { apis: 2, workers: 2 } : { apis: 4, workers: 8 };
  const stack = await startJobStack(servers, resources, { ...shape, organizations: 3, modelMs: 200, slots: 4 });
  const sampler = new Pool({ connectionString: (await servers.database()).url, max: 1 });
  resources.defer(() => sampler.end());
  const deadlocks = async () => {
    const { rows } = await sampler.query<{ deadlocks: number }>(
      'select deadlocks::integer from pg_stat_database where datname = current_database()',
    );
    return rows[0]?.deadlocks ?? 0;
  };
  const before = await deadlocks();
  const meter = meterLoad();
  const [large, ...small] = stack.organizations;
  const share = isQuick ? 1 : 4;
  const prompt = promptFor({ kind: 'write', steps });
  // one request at a time through each API process: an organization has a share of its connections
  const create = ({ clients }: (typeof stack.organizations)[number], count: number) =>
    Promise.all(
      clients.map(async (client) => {
        for (let made = 0; made < count / clients.length; made += 1) await client.create(prompt);
      }),
    );
  if (large !== undefined) await create(large, 32 * share);
  await Promise.all(small.map((organization) => create(organization, 6 * share)));
  const waits = new Map<string, number>();
  let [samples, waiting, most] = [0, 0, 0];
  const ended = new AbortController();
  const idle = stack.untilIdle().then(() => ended.abort());
  while (!ended.signal.aborted) {
    const { rows } = await sampler.query<{ event: string; query: string }>(
      `select wait_event as event, left(regexp_replace(query, '\\s+', ' ', 'g'), 90) as query
       from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    samples += 1;
    waiting += rows.length;
    most = Math.max(most, rows.length);
    for (const { event, query } of rows) {
      const what = `${event}: ${query}`;
      waits.set(what, (waits.get(what) ?? 0) + 1);
    }
    await delay(sampleEveryMs);
  }
  await idle;
  const { rows } = await sampler.query<{ id: string; jobs: number; failed: number; p50: number; longest: number }>(
    `select organization_id as id, count(*)::integer as jobs, (count(*) filter (where status = 'failed'))::integer as failed,
            percentile_cont(0.5) within group (order by extract(epoch from ended_at - created_at))::float8 as p50,
            max(extract(epoch from ended_at - created_at))::float8 as longest
     from jobs where organization_id = any($1) group by organization_id order by count(*) desc, organization_id`,
    [stack.organizations.map(({ id }) => id)],
  );
  printTable(
    `contention: ${shape.apis} API and ${shape.workers} worker processes; jobs of ${steps} steps that write`,
    ['organization', 'jobs', 'failed', 'p50 s', 'longest s'],
    rows.map(({ jobs, failed, p50, longest }, place) => [
      place === 0 ? 'large' : `small ${place}`,
      jobs,
      failed,
      figure(p50),
      figure(longest),
    ]),
  );
  printNote(
    `lock waits: ${figure(waiting / samples)} sessions on average, ${most} at most, in ${samples} samples; deadlocks: ${(await deadlocks()) - before}; others: ${figure(meter.others())} cores.`,
  );
  const found = [...waits].toSorted((a, b) => b[1] - a[1]).slice(0, 10);
  printTable(
    'sessions that waited for a lock, by statement',
    ['samples', 'lock and statement'],
    found.map(([what, count]) => [count, what]),
  );
}
