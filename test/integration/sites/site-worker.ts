import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client, Connection, WorkflowFailedError } from '@temporalio/client';
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { inject } from 'vitest';
import { createAttempt } from '../../../activities/attempt.ts';
import type { Forge } from '../../../activities/forges/forge.ts';
import { createForges } from '../../../activities/forges/forges.ts';
import { createTestGit } from '../../support/git.ts';
import { createWorkspaces } from '../../../activities/workspaces/workspaces.ts';
import { createSiteActivities, type SiteActivityDeps } from '../../../activities/sites/site-index.ts';
import { threadLimits } from '../../../activities/sites/threads/read-threads.ts';
import { crawlLimits } from '../../../activities/sites/website/crawl.ts';
import { createPageNetwork } from '../../../activities/tools/fetch/fetch-page.ts';
import { createSourceThreadStore } from '../../../db/sites/source-threads.ts';
import { createWebsitePageStore } from '../../../db/sites/website-pages.ts';
import { createSearchPool } from '../../../search/query/search-pool.ts';
import { SiteIndexes } from '../../../api/assistant/site-indexes.ts';
import { createGrantStore } from '../../../db/organizations/grants.ts';
import { createProjectCredentialReader, createProjectReader } from '../../../db/for-worker/projects/projects.ts';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { type SiteRow } from '../../../db/sites/sites.ts';
import { createSecretBox } from '../../../lib/encryption/secret-box.ts';
import { createKnownSecrets } from '../../../lib/redaction/known-secrets.ts';
import { indexFormat } from '../../../search/query/index-format.ts';
import type { PageAccess } from '../../../search/query/page-access.ts';
import { createWorker, jobQueue, siteQueue } from '../../../worker/create-worker.ts';
import { createSiteChores } from '../../../worker/chores/site-chores.ts';
import { prepareWorkflowBundle } from '../../../worker/workflow-bundle.ts';
import { indexSiteWorkflowId, indexSiteWorkflowName } from '../../../workflows/contract/messages.ts';
import type { IndexSiteOutcome } from '../../../workflows/contract/site.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import { quietRuntime, testWorkers } from '../../support/stack/worker.ts';
import { createIndexChangeStore } from '../../../db/for-service/index-changes.ts';
import { createSiteIndexStore } from '../../../db/sites/site-indexes.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

export interface SiteWorkerOptions {
  database: TestDatabase;
  /** Shared by workers that take turns. */
  taskQueue?: string;
  siteDirectories?: string;
  /** Polls for index requests and maintains schedules, as a worker process does. */
  hasChores?: boolean;
  /** Activities that run at the same time. */
  slots?: number;
  /** Replaces or wraps the dependencies of the activities. */
  change?(deps: SiteActivityDeps): Partial<SiteActivityDeps>;
}

export interface SiteWorker extends AsyncDisposable {
  client: Client;
  taskQueue: string;
  /** Indexes a site, as a request does. */
  index(site: SiteRow): Promise<IndexSiteOutcome>;
  /** Indexes a site and returns the failure that the run ended with. */
  failure(site: SiteRow): Promise<{ type: string; message: string }>;
}

export const silent = pino({ level: 'silent' });

/** The real worker of site indexing on its own queue: real Temporal, database and git; short retry delays. */
export async function startSiteWorker(options: SiteWorkerOptions): Promise<SiteWorker> {
  quietRuntime();
  await using resources = new AsyncDisposableStack();
  const directory = temporaryDirectory();
  const address = inject('temporalAddress');
  const connection = await Connection.connect({ address });
  resources.defer(() => connection.close());
  const native = await NativeConnection.connect({ address });
  resources.defer(() => native.close());
  const client = new Client({ connection });

  const base = depsOf(options, directory);
  const { taskQueue = `test-${randomUUID()}` } = options;
  const activities = createSiteActivities({ ...base, ...options.change?.(base) });
  const bundle = await prepareWorkflowBundle();
  const shape = { namespace: 'default', bundle, shutdownGraceMs: 0, workers: testWorkers };
  const sites = siteQueue(activities, taskQueue);
  const { slots: maxConcurrentActivities = sites.maxConcurrentActivities } = options;
  for (const queue of [jobQueue({}, taskQueue), { ...sites, maxConcurrentActivities }]) {
    const worker = await createWorker({ connection: native, queue, ...shape });
    const run = worker.run();
    resources.defer(async () => {
      worker.shutdown();
      await run;
    });
  }
  if (options.hasChores === true) {
    const times = { requestsEveryMs: 50, schedulesEveryMs: 50 };
    resources.use(createSiteChores({ sites: base.sites, client, log: silent, indexFormat, taskQueue, ...times }));
  }
  const running = resources.move();

  async function index({ id }: SiteRow): Promise<IndexSiteOutcome> {
    const start = { workflowId: indexSiteWorkflowId(id), taskQueue, args: [{ siteId: id }] };
    const outcome: IndexSiteOutcome = await client.workflow.execute(indexSiteWorkflowName, start);
    return outcome;
  }

  async function failure(site: SiteRow) {
    try {
      await index(site);
    } catch (error) {
      const cause =
        error instanceof WorkflowFailedError && error.cause instanceof ActivityFailure ? error.cause.cause : error;
      if (cause instanceof ApplicationFailure) return { type: cause.type ?? '', message: cause.message };
      throw error;
    }
    throw new Error('The run did not fail.');
  }

  return { client, taskQueue, index, failure, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function depsOf({ database: { pool }, siteDirectories }: SiteWorkerOptions, directory: string) {
  const secrets = createKnownSecrets([]);
  const git = createTestGit({ home: join(directory, 'home'), transports: ['file'] });
  return {
    sites: createSiteIndexing(pool),
    indexes: createSiteIndexStore(pool),
    workspaces: createWorkspaces({ git, directory }),
    grants: createGrantStore(pool),
    projects: createProjectReader(pool),
    credentials: createProjectCredentialReader(pool, createSecretBox([])),
    forges: createForges({ local: {} as Forge, github: null, gitlab: null, gitea: null }),
    secrets,
    roots: { repositories: '/', directories: siteDirectories ?? null },
    problemWithRepository: () => null,
    pages: createPageNetwork({ hosts: [], privateHosts: [] }),
    threads: { store: createSourceThreadStore(pool), limits: threadLimits },
    websites: { pages: createWebsitePageStore(pool), limits: crawlLimits },
    embedding: null,
    attempt: createAttempt({ secrets, retryBaseMs: 10 }),
    directory: join(directory, 'indexes'),
  } satisfies SiteActivityDeps;
}

/** Publishes the current index of a site again as one of the format before, as an upgrade finds it. */
export async function publishAsOlderFormat({ pool }: TestDatabase, site: SiteRow): Promise<void> {
  const store = createSiteIndexStore(pool);
  const current = await store.current(site);
  if (current === null) throw new Error('The site has no index.');
  const file = join(temporaryDirectory(), 'index.sqlite');
  await store.download(site, current.version, { file });
  const format = indexFormat - 1;
  {
    using artifact = new DatabaseSync(file);
    artifact.prepare(`update meta set value = ? where key = 'format'`).run(String(format));
  }
  await store.publish(site, { ...current, format, file });
}

/** Titles of the pages that the API finds on a site for a reader's query; null while it has no index. */
export async function search(
  { pool }: TestDatabase,
  site: SiteRow,
  query: string,
  access: PageAccess = 'all',
): Promise<string[] | null> {
  const directory = temporaryDirectory();
  const store = createSiteIndexStore(pool);
  await using indexes = new SiteIndexes({
    isQuiet: () => false,
    store,
    changes: createIndexChangeStore(pool),
    searches: createSearchPool({ deadlineMs: 60_000 }),
    directory,
    logger: silent,
    pollMs: 1_000,
  });
  const lease = await indexes.lease(site, access);
  const found = await lease?.index.search({ query, limit: 5 }, new AbortController().signal);
  lease?.release();
  return found?.map(({ title }) => title) ?? null;
}
