import type { Forge } from '../../../activities/forges/forge.ts';
import { createForges, type ForgeServers } from '../../../activities/forges/forges.ts';
import { threadLimits } from '../../../activities/sites/threads/read-threads.ts';
import { operatorOf } from '../../../db/caller.ts';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import type { AddedSource } from '../../../db/sites/site-sources.ts';
import { createSiteStore, type SiteRow } from '../../../db/sites/sites.ts';
import { createSourceThreadStore } from '../../../db/sites/source-threads.ts';
import { createEgress } from '../../../lib/network/egress.ts';
import { createKnownSecrets } from '../../../lib/redaction/known-secrets.ts';
import { buildSite, readSite } from '../../support/database/build.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import {
  startIssueServer,
  token,
  type FakeIssue,
  type IssueServer,
  type IssueServerKind,
} from '../../support/forges/issue-server.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { search, startSiteWorker } from './site-worker.ts';

export interface Tracker extends AsyncDisposable {
  server: IssueServer;
  site: SiteRow;
  index(): Promise<{ pages: number; changedPages: number; version: number }>;
  failure(): Promise<{ type: string; message: string }>;
  report(): Promise<{ pages: number; problem: string | null; skipped: string[] } | undefined>;
  /** Titles of pages that a reader of some groups finds; of all groups by default. */
  find(query: string, groups?: string[]): Promise<string[] | null>;
  /** The Markdown of a page. */
  read(path: string): Promise<string | undefined>;
  change(source: Partial<Extract<AddedSource, { kind: 'issues' }>>): Promise<void>;
  /** Lets the next index read the whole list. */
  relist(): Promise<void>;
}

export interface Options {
  kind?: IssueServerKind;
  source?: Partial<Extract<AddedSource, { kind: 'issues' }>>;
  limits?: object;
  hasToken?: boolean;
  hasDocs?: boolean;
  isPublicOnly?: boolean;
  secrets?: string[];
}

/** A forge, and a site with its issues below `issues`. */
export async function startTracker(
  database: TestDatabase,
  issues: Record<number, FakeIssue>,
  options: Options = {},
): Promise<Tracker> {
  const { kind = 'github', hasToken = true, hasDocs = false, isPublicOnly = false, secrets = [] } = options;
  await using resources = new AsyncDisposableStack();
  const server = resources.use(await startIssueServer(kind, issues));
  const none: ForgeServers = { github: null, gitlab: null, gitea: null };
  const github = { ...none, github: { apiUrl: server.origin, token: hasToken ? token : null, app: null } };
  const servers = kind === 'github' ? github : { ...none, [kind]: { url: server.origin, token } };
  const egress = createEgress({ privateHosts: isPublicOnly ? [] : [server.host] });
  const worker = resources.use(
    await startSiteWorker({
      database,
      change: () => ({
        forges: createForges({ local: {} as Forge, egress, ...servers }),
        secrets: createKnownSecrets(secrets),
        issues: {
          store: createSourceThreadStore(database.pool),
          limits: { ...threadLimits, delayMs: 0, ...options.limits },
        },
      }),
    }),
  );
  const docs = hasDocs
    ? resources.use(await createTestRepository({ 'start.md': '# Start\n\nThe crane flies.\n' }))
    : null;
  const source: Extract<AddedSource, { kind: 'issues' }> = {
    kind: 'issues',
    repository: `${server.origin}/acme/docs`,
    prefix: 'issues',
    weight: 0.5,
    threads: 'answered',
    labels: [],
    groups: [],
    ...options.source,
  };
  const site = await buildSite(database.pool, {
    repository: docs?.path,
    directory: undefined,
    sources: [source],
  });
  const running = resources.move();
  return {
    server,
    site,
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

/** A closed issue with an answer, both about a word. */
export const answered = (word: string, more: Partial<FakeIssue> = {}): FakeIssue => ({
  title: `About the ${word}`,
  body: `Where does the ${word} live?`,
  comments: [{ body: `The ${word} lives by the river.` }],
  changedAt: 1,
  ...more,
});
