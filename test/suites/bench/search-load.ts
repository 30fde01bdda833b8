import { Pool } from 'pg';
import { buildJob, buildKey, buildProject } from '../../support/database/build.ts';
import { loadCore, pin, serverCore, startService } from './support/bench-process.ts';
import { cpuSecondsOf, meterLoad } from './support/cpu.ts';
import { generateSite } from './support/generate-pages.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, printNote, printTable, quantile } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import { apiEnvironment, seedSite } from './support/site.ts';

const pollsPerSecond = 200;
const searchRates = [0, 20, 60, 100];
const differentQuestions = 1_000;

/** Polls of jobs beside searches of a large site, at fixed rates whether or not earlier requests are answered. */
export async function benchSearchLoad(servers: BenchServers, { isQuick, seconds, serverFlags }: BenchOptions) {
  const pages = isQuick ? 1_000 : 25_000;
  await using resources = new AsyncDisposableStack();
  const database = await servers.database();
  const pool = new Pool({ connectionString: database.url, max: 2 });
  resources.defer(() => pool.end());
  const { domain, key: readerKey } = await seedSite(pool, pages);
  const project = await buildProject(pool);
  const { key: jobKey } = await buildKey(pool, { organizationId: project.organizationId });
  const job = await buildJob(pool, project);
  await pool.query('delete from job_outbox');
  const env = { ...apiEnvironment(database.url), TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const api = resources.use(
    await startService('api/main.ts', 'api ready', { core: serverCore, env, flags: serverFlags }),
  );
  pin(process.pid, loadCore);
  const url = `http://127.0.0.1:${String(api.ready['port'])}`;
  const { questions } = generateSite(pages, differentQuestions);
  let asked = 0;
  const ask = async (path: string, init: RequestInit) => {
    const response = await fetch(`${url}${path}`, init);
    await response.arrayBuffer();
    return response.status;
  };
  const poll = () => ask(`/v2/agent/${project.id}/job/${job.id}`, { headers: { authorization: `Bearer ${jobKey}` } });
  const search = () =>
    ask(`/discovery/v1/search/${domain}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${readerKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: questions[asked++ % questions.length] }),
    });

  const longestHoldMs = () => readLongestHoldMs(url);

  await longestHoldMs();
  const [first, cpuBefore] = [performance.now(), cpuSecondsOf(api.pid)];
  const firstPolls = startRequests(pollsPerSecond, poll);
  await search();
  const [firstMs, firstCpuMs] = [performance.now() - first, (cpuSecondsOf(api.pid) - cpuBefore) * 1_000];
  const duringFirst = await firstPolls.end();
  const heldByFirstMs = await longestHoldMs();

  await (await warmUp(search)).end();
  const rows = [];
  for (const rate of searchRates) {
    await longestHoldMs();
    const [meter, cpu, from] = [meterLoad(), cpuSecondsOf(api.pid), performance.now()];
    const [polls, searches] = [startRequests(pollsPerSecond, poll), startRequests(rate, search)];
    await new Promise((resolve) => setTimeout(resolve, seconds * 4_000));
    const [ofPolls, ofSearches] = [await polls.end(), await searches.end()];
    const cores = (cpuSecondsOf(api.pid) - cpu) / ((performance.now() - from) / 1_000);
    rows.push([
      rate,
      figure(quantile(ofPolls.times, 0.5)),
      figure(quantile(ofPolls.times, 0.99)),
      figure(quantile(ofSearches.times, 0.5)),
      figure(quantile(ofSearches.times, 0.95)),
      figure(await longestHoldMs()),
      ofPolls.failed + ofSearches.failed,
      figure(cores),
      figure(meter.others()),
    ]);
  }
  printTable(
    `search-load: ${pollsPerSecond} polls a second beside searches of ${pages.toLocaleString('en-US')} pages, one core`,
    [
      'searches/s',
      'poll p50 ms',
      'poll p99',
      'search p50',
      'search p95',
      'loop held ms',
      'refused',
      'API cores',
      'others',
    ],
    rows,
  );
  printNote(
    `first search of the process: ${figure(firstMs)} ms, ${figure(firstCpuMs)} ms of CPU; slowest poll meanwhile ${figure(Math.max(...duringFirst.times))} ms, event loop held up to ${figure(heldByFirstMs)} ms.`,
  );
  printNote(
    'aim: searches do not move the p99 of polls, nor hold the loop for more than 5 ms; p95 of a search ≤ 30 ms.',
  );
  printNote('the loop also counts as held while other threads or processes have its core: compare with 0 searches.');
}

/** The event loop's delay is measured by a timer of this interval, which is a part of what it reports. */
const delayTimerMs = 10;

/** Reads the longest block of the API's event loop since the last read, and resets it. */
async function readLongestHoldMs(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const seconds = /^docket_api_nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1];
  return Math.max(0, Number(seconds) * 1_000 - delayTimerMs);
}

async function warmUp(search: () => Promise<number>) {
  const requests = startRequests(20, search);
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  return requests;
}

/** Sends requests at a fixed rate, until ended; then awaits the answers. */
function startRequests(perSecond: number, request: () => Promise<number>) {
  const times: number[] = [];
  const running = new Set<Promise<void>>();
  let [sent, failed] = [0, 0];
  const from = performance.now();
  const timer = setInterval(() => {
    for (; sent < ((performance.now() - from) * perSecond) / 1_000; sent += 1) {
      // counted from when it was due
      const due = from + (sent * 1_000) / perSecond;
      const one = request().then((status) => {
        if (status === 200) times.push(performance.now() - due);
        else failed += 1;
      });
      running.add(one);
      void one.finally(() => running.delete(one));
    }
  }, 1);
  return {
    async end() {
      clearInterval(timer);
      await Promise.all(running);
      return { times, failed };
    },
  };
}
