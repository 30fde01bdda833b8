import type { Forge } from '../../../activities/forges/forge.ts';
import { createForges, type ForgeServers } from '../../../activities/forges/forges.ts';
import { threadLimits } from '../../../activities/sites/threads/read-threads.ts';
import type { SiteActivityDeps } from '../../../activities/sites/site-index.ts';
import { operatorOf } from '../../../db/caller.ts';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import type { ThreadSource } from '../../../db/sites/site-sources.ts';
import { createSiteStore, type SiteRow } from '../../../db/sites/sites.ts';
import { createSourceThreadStore } from '../../../db/sites/source-threads.ts';
import { createEgress } from '../../../lib/network/egress.ts';
import { createKnownSecrets } from '../../../lib/redaction/known-secrets.ts';
import { buildSite, readSite } from '../../support/database/build.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import type { JsonServer } from '../../support/forges/json-server.ts';
import { createTestRepository, type TestRepository } from '../../support/git-repository.ts';
import { search, startSiteWorker } from './site-worker.ts';

/** A site whose pages are threads of another server. */
export interface ThreadSite<Source extends ThreadSource> extends AsyncDisposable {
  site: SiteRow;
  /** Repository of the site, if it has documents. */
  docs: TestRepository | null;
  index(): Promise<{ pages: number; changedPages: number; version: number }>;
  failure(): Promise<{ type: string; message: string }>;
  report(): Promise<{ pages: number; problem: string | null; skipped: string[] } | undefined>;
  /** Titles of pages that a reader of some groups finds; of all groups by default. */
  find(query: string, groups?: string[]): Promise<string[] | null>;
  /** The Markdown of a page. */
  read(path: string): Promise<string | undefined>;
  change(source: Partial<Source>): Promise<void>;
  /** Lets the next index read the whole list. */
  relist(): Promise<void>;
}

export interface ThreadSiteOptions<Source extends ThreadSource> {
  source: Source;
  change: Partial<SiteActivityDeps>;
  limits?: object;
  hasDocs?: boolean;
  secrets?: string[];
}

export async function startThreadSite<Source extends ThreadSource>(
  database: TestDatabase,
  { source, change, limits, hasDocs = false, secrets = [] }: ThreadSiteOptions<Source>,
): Promise<ThreadSite<Source>> {
  await using resources = new AsyncDisposableStack();
  const worker = resources.use(
    await startSiteWorker({
      database,
      change: () => ({
        ...change,
        secrets: createKnownSecrets(secrets),
        threads: {
          store: createSourceThreadStore(database.pool),
          limits: { ...threadLimits, delayMs: 0, forumDelayMs: 0, ...limits },
        },
      }),
    }),
  );
  const docs = hasDocs
    ? resources.use(await createTestRepository({ 'start.md': '# Start\n\nThe crane flies.\n' }))
    : null;
  const site = await buildSite(database.pool, {
    repository: docs?.path,
    directory: undefined,
    sources: [source],
  });
  const running = resources.move();
  return {
    site,
    docs,
    index: () => worker.index(site),
    failure: () => worker.failure(site),
    report: async () => (await createSiteIndexing(database.pool).get(site.id))?.indexReport?.sources?.[0],
    async find(query, groups) {
      const row = await readSite(database.pool, site.id);
      const found = await search(database, row, query, groups === undefined ? 'all' : { groups });
      return found && [...new Set(found)];
    },
    async read(path) {
      const { rows } = await database.pool.query('select content from source_threads where site_id = $1 and id = $2', [
        site.id,
        path,
      ]);
      return rows[0]?.content == null ? undefined : JSON.parse(rows[0].content).body;
    },
    change: async (change) =>
      void (await createSiteStore(database.pool).update(operatorOf(site), site.id, {
        sources: [{ ...source, ...change }],
      })),
    relist: async () =>
      void (await database.pool.query(
        `update thread_sources set listed_at = listed_at - interval '2 days' where site_id = $1`,
        [site.id],
      )),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

export type ForgeSource = Extract<ThreadSource, { labels: string[] }>;

export interface ForgeSiteOptions extends Partial<Omit<ThreadSiteOptions<ForgeSource>, 'source' | 'change'>> {
  source?: Partial<ForgeSource>;
  /** Does not let the worker reach the server, whose address is private. */
  isPublicOnly?: boolean;
}

/** A site with the issues or discussions of a forge, below their name. Disposing of it also ends the server. */
export async function startForgeSite<Server extends JsonServer>(
  database: TestDatabase,
  { server, kind, servers }: { server: Server; kind: ForgeSource['kind']; servers: Partial<ForgeServers> },
  { source, isPublicOnly = false, ...options }: ForgeSiteOptions,
): Promise<ThreadSite<ForgeSource> & { server: Server }> {
  await using resources = new AsyncDisposableStack();
  resources.use(server);
  const egress = createEgress({ privateHosts: isPublicOnly ? [] : [server.host] });
  const forges = createForges({ local: {} as Forge, egress, github: null, gitlab: null, gitea: null, ...servers });
  const site = resources.use(
    await startThreadSite<ForgeSource>(database, {
      ...options,
      change: { forges },
      source: {
        kind,
        repository: `${server.origin}/acme/docs`,
        prefix: kind,
        weight: 0.5,
        threads: 'answered',
        labels: [],
        groups: [],
        ...source,
      },
    }),
  );
  const running = resources.move();
  return { ...site, server, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
