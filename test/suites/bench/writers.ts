import { Pool } from 'pg';
import { createJobEventWakeups } from '../../../db/jobs/job-event-wakeups.ts';
import { wakeWatchers } from '../../../db/jobs/wake-watchers.ts';
import { buildJob, buildProject } from '../../support/database/build.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, median, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';

const writers = 64;

const text = JSON.stringify([{ type: 'text', data: { attempt: 1, offset: 0, text: 'x'.repeat(80) } }]);
const append = (more = '') => `select from append_job_events($1, 1, 1, $2)${more}`;

type Write = (pool: Pool, jobId: string) => Promise<void>;

const variants: Record<string, Write> = {
  async 'notified within the transaction'(pool, jobId) {
    await pool.query({ name: 'within', text: append(", pg_notify('job_events', $1)"), values: [jobId, text] });
  },
  async 'notified after the commit'(pool, jobId) {
    await pool.query({ name: 'after', text: append(), values: [jobId, text] });
    wakeWatchers(pool, jobId);
  },
  async 'not notified'(pool, jobId) {
    await pool.query({ name: 'after', text: append(), values: [jobId, text] });
  },
};

/** Commits of live text by many jobs at once, on a database that flushes its WAL. */
export async function benchWriters(servers: BenchServers, { seconds, rounds }: BenchOptions): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const { url } = await servers.durableDatabase();
  const pool = new Pool({ connectionString: url, max: writers });
  pool.on('error', () => undefined); // the server may stop before the last connection is closed
  resources.defer(() => pool.end());
  const wakeups = resources.use(createJobEventWakeups({ url, pool }));
  resources.use(wakeups.onAnyChange(() => undefined));
  const project = await buildProject(pool);
  const jobIds = await Promise.all(Array.from({ length: writers }, async () => (await buildJob(pool, project)).id));

  const rates = new Map(Object.keys(variants).map((name): [string, number[]] => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const order = Object.entries(variants);
    for (const [name, write] of round % 2 === 0 ? order : order.toReversed())
      rates.get(name)?.push(await commitsPerSecond(pool, { jobIds, write, seconds }));
  }
  const [within = Number.NaN] = [...rates.values()].map(median);
  printTable(
    `Writers: commits of live text a second by ${writers} jobs at once, with WAL flushes`,
    ['', 'commits/s', 'ratio'],
    [...rates].map(([name, values]) => [name, figure(median(values)), figure(median(values) / within)]),
  );
  printNote('aim: notified after the commit ≥ 4 times as many as within the transaction.');
}

async function commitsPerSecond(
  pool: Pool,
  { jobIds, write, seconds }: { jobIds: string[]; write: Write; seconds: number },
): Promise<number> {
  const from = performance.now();
  const until = from + seconds * 1_000;
  let commits = 0;
  await Promise.all(
    jobIds.map(async (jobId) => {
      for (; performance.now() < until; commits += 1) await write(pool, jobId);
    }),
  );
  return commits / ((performance.now() - from) / 1_000);
}
