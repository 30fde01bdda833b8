import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { buildKey, buildOrganization, buildSite } from '../../support/database/build.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { loadCore, serverCore, startService } from './support/bench-process.ts';
import { cpuSecondsOf, cpuSecondsOfTree, meterLoad } from './support/cpu.ts';
import { generateSite } from './support/generate-pages.ts';
import type { BenchOptions } from './support/options.ts';
import { figure, median, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import { apiEnvironment } from './support/site.ts';

const pollMs = 20;
const maxWaitMs = 300_000;

interface Measured {
  firstSeconds: number;
  /** Time from the index request to the first search result with the change. */
  seconds: number[];
  /** CPU time of a change. */
  workerSeconds: number[];
  apiSeconds: number[];
  others: number;
}

/** One changed page of a git repository, from the index request until a reader finds it, through the real processes. */
export async function benchChanges(servers: BenchServers, options: BenchOptions): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const [database, temporal] = await Promise.all([servers.database(), servers.temporal()]);
  const repositories = join(servers.directory, 'sites');
  const env = {
    ...apiEnvironment(database.url),
    TEMPORAL_ADDRESS: temporal.address,
    DOCKET_LOCAL_REPOSITORIES: repositories,
    DOCKET_WORK_DIR: join(servers.directory, 'site-work'),
  };
  const api = resources.use(await startService('api/main.ts', 'api ready', { core: loadCore, env }));
  const service = { core: serverCore, env, flags: options.serverFlags };
  const worker = resources.use(await startService('worker/main.ts', 'worker ready', service));
  const pool = new Pool({ connectionString: database.url, max: 1 });
  resources.defer(() => pool.end());
  const url = `http://127.0.0.1:${String(api.ready['port'])}`;

  const rows = [];
  for (const pages of options.isQuick ? [1_000] : [1_000, 25_000]) {
    const path = join(repositories, `site-${pages}.git`);
    const of = { pool, url, path, changes: options.rounds, pids: { worker: worker.pid, api: api.pid } };
    const measured = await measure(pages, of);
    rows.push([
      pages.toLocaleString('en-US'),
      figure(measured.firstSeconds),
      figure(median(measured.seconds)),
      figure(Math.max(...measured.seconds)),
      figure(median(measured.workerSeconds)),
      figure(median(measured.apiSeconds)),
      figure(measured.others),
    ]);
  }
  printTable(
    'changes: one page of a git repository changed, until a reader finds it',
    ['pages', 'first index s', 'a change s', 'slowest s', 'worker CPU s', 'API CPU s', 'others'],
    rows,
  );
  printNote('aim: ≤ 2 s a change. The first index is one of all pages.');
}

async function measure(
  pages: number,
  {
    pool,
    url,
    path,
    changes,
    pids,
  }: { pool: Pool; url: string; path: string; changes: number; pids: { worker: number; api: number } },
): Promise<Measured> {
  const files = generateSite(pages, 0).files.map((file): [string, string] => [file.path, file.read()]);
  await using repository = await createTestRepository(Object.fromEntries(files), { path });
  const organization = await buildOrganization(pool);
  const site = await buildSite(pool, { organizationId: organization.id, repository: path });
  const { key } = await buildKey(pool, { organizationId: organization.id, kind: 'assistant' });
  const sites = createSiteIndexing(pool);

  async function untilFound(word: string): Promise<void> {
    const deadline = Date.now() + maxWaitMs;
    while (Date.now() < deadline) {
      const response = await fetch(`${url}/discovery/v1/search/${site.domain}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ query: word }),
      });
      // without an index the answer is not a list
      const body: unknown = await response.json();
      if (Array.isArray(body) && body.length > 0) return;
      await sleep(pollMs);
    }
    throw new Error(`The change was not found within ${maxWaitMs / 1_000} s.`);
  }

  async function change(number: number): Promise<number> {
    const [name, text] = files[(number * 37) % files.length] ?? ['', ''];
    const word = `zebrafinch${number}`;
    await repository.commit({ [name]: `${text}\n\nA ${word} sits here.\n` });
    const from = performance.now();
    await sites.requestIndex(site.id);
    await untilFound(word);
    return (performance.now() - from) / 1_000;
  }

  const measured: Measured = {
    firstSeconds: await change(0),
    seconds: [],
    workerSeconds: [],
    apiSeconds: [],
    others: 0,
  };
  for (let number = 1; number <= changes; number += 1) {
    const meter = meterLoad();
    const [worker, api] = [cpuSecondsOfTree(pids.worker), cpuSecondsOf(pids.api)];
    measured.seconds.push(await change(number));
    measured.workerSeconds.push(cpuSecondsOfTree(pids.worker) - worker);
    measured.apiSeconds.push(cpuSecondsOf(pids.api) - api);
    measured.others = Math.max(measured.others, meter.others());
  }
  return measured;
}
