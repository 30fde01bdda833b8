import { afterAll, beforeAll, expect, it } from 'vitest';
import { createServiceStores } from '../../../api/service-stores.ts';
import { createApiStores } from '../../../api/stores.ts';
import { readConfig } from '../../../api/config.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { operatorOf } from '../../../db/caller.ts';
import { createErasure } from '../../../db/organizations/erasure.ts';
import { createOperationRollups } from '../../../db/for-service/operation-rollups.ts';
import { createWorkerStores } from '../../../worker/stores.ts';
import { readDescription } from '../../suites/fuzz/description.ts';
import { buildProject, buildSite, testPepper } from '../../support/database/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { createExplainedPool, examinedBy, type ExplainedPool } from '../../support/database/explained-pool.ts';
import { insertManyRows, makeBacklog } from '../../support/database/many-rows.ts';
import { bodyOf, createAsker, pathOf } from '../api/access/described-requests.ts';
import { createOwner, insertForeignRows, receiver, type Owner } from '../api/access/owner.ts';
import { serveApi, type ServedApi } from '../api/serve.ts';

/** A million takes six minutes and 8 GB. */
const jobs = Number(process.env['QUERY_JOBS'] ?? 10_000);
const isMeasured = 'QUERY_JOBS' in process.env;
const timeout = isMeasured ? 3_600_000 : 120_000;
/** Maximum rows of a growing table that one plan node may read: the largest batch of a sweep, or the 2,000 questions of gaps. */
const maxRows = isMeasured ? 3_000 : 1_500;

let database: TestDatabase;
let explained: ExplainedPool;
let api: ServedApi;
let owner: Owner;
let growing: Set<string>;

beforeAll(async () => {
  database = await createTestDatabase();
  {
    await using setup = await serveApi(database.pool, { DOCKET_WEBHOOK_ALLOWED_HOSTS: new URL(receiver).host });
    owner = await createOwner(database.pool, setup);
    await insertForeignRows(database.pool, owner);
  }
  const { ids } = owner;
  await insertManyRows(
    database.pool,
    {
      organizationId: owner.organizationId,
      projectId: ids['agent'] ?? '',
      siteId: ids['site'] ?? '',
      webhookId: ids['webhooks'] ?? '',
    },
    jobs,
  );
  await createOperationRollups(database.pool).addEarlier();
  // only the oldest conversations expire
  await database.pool.query('update sites set retention_days = 360');
  const { rows } = await database.pool.query(
    `select relname from pg_class where relkind = 'r' and reltuples >= $1 and relnamespace = 'public'::regnamespace`,
    [jobs / 2],
  );
  growing = new Set(rows.map(({ relname }) => relname));
  explained = createExplainedPool(database.url);
  api = await serveApi(explained.pool, {
    DOCKET_TRUSTED_PROXIES: '1',
    DOCKET_WEBHOOK_ALLOWED_HOSTS: new URL(receiver).host,
  });
}, timeout);

afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await explained?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
  if (!isMeasured) return;
  for (const { what, rows, ms, statement } of measured.toSorted((a, b) => b.rows - a.rows).slice(0, 60))
    process.stdout.write(`${rows} rows, ${ms} ms: ${what}: ${statement}\n`);
});

/** Statements that may read more, and why. An unused entry fails the test. */
const readsMore = [
  {
    what: /^GET \/v1\/jobs\?(?:q|state|model|failure|pullRequest)=/,
    rows: 5_000,
    why: 'a page of a filtered list looks through 5,000 jobs at most',
  },
  { what: /conversations\?/, rows: 4_100, why: 'a page of a search looks through 2,000 conversations at most' },
  { what: /^earlier rollups/, rows: 12_000, why: 'once, the facts of 500 jobs are sorted into slots of three widths' },
];
const config = () => readConfig({ DATABASE_URL: 'postgres://unused', DOCKET_KEY_PEPPER: testPepper });
const needed = new Set<string>();
const measured: { what: string; rows: number; ms: number; statement: string }[] = [];

/** Returns the statements since the last call that read too many rows. */
function costly(what: string): string[] {
  return explained.take().flatMap(({ text, ms, plan }) => {
    const { rows, scanned } = examinedBy(plan, growing);
    const statement = text.replaceAll(/\s+/g, ' ').trim();
    measured.push({ what, rows, ms, statement: statement.slice(0, 60) });
    const bound = readsMore.find((one) => one.what.test(`${what} ${statement}`));
    if (bound !== undefined && rows > maxRows && rows <= bound.rows) {
      needed.add(bound.why);
      return [];
    }
    const found = [
      ...(rows > maxRows ? [`reads ${rows} rows`] : []),
      ...(scanned.length > 0 ? [`scans ${[...new Set(scanned)].join(', ')}`] : []),
    ];
    return found.length === 0 ? [] : [`${what} ${found.join(' and ')} in ${ms} ms: ${statement.slice(0, 220)}`];
  });
}

/** Does each work; returns the statements that read too many rows. */
async function costlyAmong(works: Record<string, () => Promise<unknown>>): Promise<string[]> {
  explained.take();
  const found: string[] = [];
  for (const [name, work] of Object.entries(works)) {
    await work();
    found.push(...costly(name));
  }
  return found;
}

/** Values of query parameters to try. */
const asked: Record<string, string[]> = {
  status: ['active', 'completed', 'failed', 'archived'],
  state: ['queued', 'running', 'completed', 'failed', 'cancelled', 'archived', 'open', 'merged', 'closed'],
  model: ['no/such'],
  failure: ['ref_not_found'],
  pullRequest: ['any', 'open', 'closed'],
  createdSince: ['2026-01-01T00:00:00Z'],
  order: ['oldest'],
  q: ['nothing is like this', 'number 99', 'job_many9999'],
  answered: ['true', 'false'],
  vote: ['up', 'down'],
  hours: ['24', '720'],
  days: ['7', '90'],
  since: ['2026-01-01T00:00:00Z'],
  topic: ['guides'],
  page: ['guides/install'],
};

it('requests read only few rows besides those they return', { tags: ['slow'], timeout }, async () => {
  const ask = createAsker(api);
  const { operations } = await readDescription(api.url);
  const found: string[] = [];
  for (const operation of operations) {
    const key = operation.key === 'assistant' ? owner.keys.assistant : owner.keys.admin;
    const ids = { ...owner.ids, job: 'job_many5' };
    const path = pathOf(operation, ids);
    const json = bodyOf(operation, owner.ids);
    const queries = operation.queries.flatMap(({ name }) => (asked[name] ?? []).map((value) => `?${name}=${value}`));
    for (const query of ['', ...queries]) {
      if (operation.method === 'DELETE') continue;
      const { status } = await ask(operation, key, { path: path + query, json });
      if (status >= 500) found.push(`${operation.method} ${path}${query} answers ${status}`);
      found.push(...costly(`${operation.method} ${operation.template}${query}`));
    }
  }
  expect(found).toEqual([]);
});

it('sweeps and chores read only few rows besides those they change', { tags: ['slow'], timeout }, async () => {
  const { pool } = explained;
  const stores = createApiStores({ pool, config: config() });
  const service = createServiceStores({ pool, config: config() });
  const worker = createWorkerStores({ pool, box: createSecretBox([]) });
  const limit = 50;
  // no snapshot of these jobs can be removed
  const retention = { jobDays: 180, transcriptDays: 170, auditDays: 180, snapshotBytes: 1, threads: jobs - 300 };
  const works: Record<string, () => Promise<unknown>> = {
    figures: () => stores.figures.read(),
    outbox: () => stores.outbox.claimDue({ limit, leaseMs: 1 }),
    cancels: () => stores.cancels.claimDue({ limit, leaseMs: 1 }),
    'rate limits': () => stores.rateLimits.sweep(),
    uses: () => stores.usage.sweep(),
    replies: () => service.sweeps.replies(),
    searches: () => service.sweeps.emptySearches(),
    sessions: () => service.sweeps.sessions(),
    merged: () => service.gapChecks.noteMerged(),
    gaps: () => service.gapChecks.claim({ seconds: 1, after: '' }),
    evaluations: () => service.evaluationRuns.claim({ seconds: 1 }),
    'due chores': () => service.dueChores.poll(),
    'changed indexes': () =>
      service.indexChanges.changed([{ id: owner.ids['site'] ?? '', organizationId: owner.organizationId, version: 1 }]),
    'due work': () => worker.dueWork.poll(),
    merges: () => worker.merges.claimMerge(),
    'pull requests': () => worker.branches.claimOpenPullRequests({ limit }),
    'closed pull requests': () => worker.branches.claimClosedPullRequests({ limit }),
    'abandoned calls': () => worker.leases.loseAbandoned(),
    histories: () => worker.histories.claimDue({ limit, leaseMs: 1 }),
    'expired history': () => worker.histories.removeOld({ days: 300, limit }),
    'idle jobs': () => worker.idleJobs.list({ idleMs: 1, after: '', limit }),
    'index requests': () => worker.sites.listIndexRequests(limit),
    outdated: () => worker.sites.requestOutdated(1),
    'delivery starts': () => worker.deliveries.claimStarts({ limit, leaseMs: 1 }),
    'lost deliveries': () => worker.deliveries.restartLost({ overdueMs: 1, limit }),
    archive: () => worker.endings.archiveIdle({ idleDays: 30, limit }),
    'old deliveries': () => worker.deliveries.sweep({ days: 20, limit }),
    'limits of organizations': () => worker.retention.bound(retention),
    retention: () => worker.retention.sweep(retention),
    threads: () => service.sweeps.threads(),
    rollups: () => service.rollups.add(),
    'earlier rollups': () => service.rollups.addEarlier(),
    'rollup sweep': () => service.rollups.sweep(),
    'site rollups': () => service.siteRollups.add(),
    'site rollup sweep': () => service.siteRollups.sweep(),
  };
  await pool.query(`update operation_start set after_job = 'job_many9', after_thread = 'thr_many9'`);
  expect(await costlyAmong(works)).toEqual([]);
  // a million rows have plans and a limit of their own
  if (!isMeasured) expect([...needed].sort()).toEqual(readsMore.map(({ why }) => why).sort());
});

it(
  'chores of thousands of unfinished jobs and pull requests read only few of them at a time',
  { tags: ['slow'], timeout },
  async () => {
    await makeBacklog(database.pool);
    const worker = createWorkerStores({ pool: explained.pool, box: createSecretBox([]) });
    const limit = 50;
    const works: Record<string, () => Promise<unknown>> = {
      'idle jobs': () => worker.idleJobs.list({ idleMs: 1, after: '', limit }),
      'more idle jobs': () => worker.idleJobs.list({ idleMs: 1, after: 'job_many5', limit }),
      'pull requests': () => worker.branches.claimOpenPullRequests({ limit }),
      'expired waits': () => worker.endings.endWaits({ limit }),
    };
    expect(await costlyAmong(works)).toEqual([]);
  },
);

it('deletions read only few rows besides those they delete', { tags: ['slow'], timeout }, async () => {
  const { pool } = explained;
  const { organizationId } = owner;
  const caller = operatorOf(owner);
  const project = await buildProject(database.pool, { organizationId });
  const site = await buildSite(database.pool, { organizationId });
  await database.pool.query(
    `insert into jobs (id, project_id, organization_id, status, repository, model, title, branch)
     select 'job_erased' || number, $1, $2, 'active', 'https://github.com/acme/docs', 'offline/editor', '', '' from generate_series(1, 250) as number`,
    [project.id, organizationId],
  );
  await database.pool.query(
    `insert into threads (id, site_id, organization_id, fp)
     select 'thr_erased' || number, $1, $2, 'reader' from generate_series(1, 250) as number`,
    [site.id, organizationId],
  );
  const works = {
    job: () => createErasure(pool).job(caller, 'job_many7'),
    project: () => createErasure(pool).project(caller, project.id),
    site: () => createApiStores({ pool, config: config() }).sites.remove(caller, site.id),
  };
  expect(await costlyAmong(works)).toEqual([]);
});
