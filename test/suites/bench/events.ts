import { setTimeout as delay } from 'node:timers/promises';
import { Pool } from 'pg';
import { createLiveText } from '../../../activities/model/live-text.ts';
import { createRedactor } from '../../../lib/redaction/redactor.ts';
import { createStreamRedactor } from '../../../lib/redaction/redact-stream.ts';
import { createWorkerEventStore } from '../../../db/for-worker/job-events.ts';
import { createWorkerJobStore } from '../../../db/for-worker/jobs.ts';
import { wakeWatchers } from '../../../db/jobs/wake-watchers.ts';
import { buildJob, buildKey, buildProject } from '../../support/database/build.ts';
import { claimAnswer } from '../../support/database/claim-answer.ts';
import { watchEvents } from '../../support/sdk-clients/watch-events.ts';
import { loadCore, serverCore, startService } from './support/bench-process.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, printTable, quantile } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import { apiEnvironment } from './support/site.ts';

const watchers = 4;

/** Job events from the model's output to the watcher, through two API processes, while watchers are cut off. */
export async function benchEvents(servers: BenchServers, options: BenchOptions): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const database = await servers.database();
  const pool = new Pool({ connectionString: database.url, max: 10 });
  resources.defer(() => pool.end());
  const env = { ...apiEnvironment(database.url), TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const ports: number[] = [];
  for (const core of [serverCore, loadCore]) {
    const api = resources.use(await startService('api/main.ts', 'api ready', { core, env }));
    ports.push(Number(api.ready['port']));
  }
  const project = await buildProject(pool);
  const { key } = await buildKey(pool, project);
  const newJob = async () => {
    const { id } = await buildJob(pool, project);
    await pool.query('delete from job_outbox where job_id = $1', [id]); // Temporal does not run here
    const path = `/v2/agent/${project.id}/job/${id}/events`;
    return { id, key, urls: ports.map((port) => `http://127.0.0.1:${port}${path}`) };
  };

  const times = await latencies(pool, await newJob(), options.isQuick ? 50 : 300);
  const cuts = await cutOff(pool, await newJob(), options.isQuick ? 100 : 1_000);
  printTable(
    'Job events: milliseconds from the model’s words to the watcher, and watchers that are cut off and come back',
    ['', 'events', 'p50', 'p99', 'longest', 'cuts', 'gaps', 'doubles'],
    [
      ['text', times.length, ...[0.5, 0.99, 1].map((share) => figure(quantile(times, share))), '', '', ''],
      ['cuts', cuts.events, '', '', '', cuts.cuts, cuts.gaps, cuts.doubles],
    ],
  );
}

interface BenchJob {
  id: string;
  key: string;
  /** One for each process. */
  urls: string[];
}

/** Answers like a step's model, with the time of each word in its text. */
async function latencies(pool: Pool, { id, key, urls }: BenchJob, words: number): Promise<number[]> {
  const events = createWorkerEventStore(pool);
  const step = { jobId: id, turn: 1, step: 1 };
  const { fence } = await claimAnswer(pool, step);
  const text = createLiveText({
    redactor: createStreamRedactor({ redact: createRedactor([]), values: [] }),
    append: (piece) => events.appendText({ ...step, fence, ...piece }),
  });
  const times: number[] = [];
  const watching = (async () => {
    let said = '';
    for await (const { type, data } of watchEvents({ url: urls[0]!, key })) {
      if (type !== 'text') continue;
      said += String(data['text']);
      const parts = said.split(';');
      said = parts.pop()!;
      for (const part of parts) times.push(performance.now() - Number(part));
    }
  })();
  for (let word = 0; word < words; word += 1) {
    text.push(`${performance.now()}; `);
    await delay(10 + Math.random() * 40);
  }
  await text.end();
  await finish(pool, id);
  await watching;
  return times;
}

async function cutOff(pool: Pool, { id, key, urls }: BenchJob, wanted: number) {
  const result = { events: 0, cuts: 0, gaps: 0, doubles: 0 };
  let isOver = false;
  const writing = (async () => {
    while (result.cuts < wanted) {
      const count = 1 + Math.floor(Math.random() * 4);
      const data = { attempt: 1, offset: 0, text: 'x'.repeat(Math.floor(Math.random() * 500)) };
      const batch = Array.from({ length: count }, () => ({ type: 'text', data }));
      await pool.query('select append_job_events($1, 1, 1, $2)', [id, JSON.stringify(batch)]);
      wakeWatchers(pool, id);
      result.events += count;
    }
    isOver = await finish(pool, id);
  })();
  async function watch(watcher: number): Promise<void> {
    let last = 0;
    let isEnded = false;
    for (let turn = watcher; ; turn += 1) {
      const controller = new AbortController();
      let left = Math.floor(Math.random() * 30);
      const url = urls[turn % urls.length]!;
      try {
        for await (const event of watchEvents({ url, key, lastEventId: last, signal: controller.signal })) {
          if (event.seq <= last) result.doubles += 1;
          if (event.seq > last + 1) result.gaps += 1;
          last = event.seq;
          isEnded = event.type === 'finish';
          if (isEnded) return;
          left -= 1;
          if (left < 0 && !isOver) controller.abort();
        }
      } catch (error) {
        // the cut may have come after the last events
        if (isEnded) return;
        if (!controller.signal.aborted) throw error;
        result.cuts += 1;
      }
    }
  }
  await Promise.all([writing, ...Array.from({ length: watchers }, (_, watcher) => watch(watcher))]);
  return result;
}

function finish(pool: Pool, jobId: string): Promise<boolean> {
  return createWorkerJobStore(pool).finish({ jobId, turn: 1, status: 'completed', failureCategory: null });
}
