import { embeddingModelOf } from '../../../api/assistant/retrieval/embed-query.ts';
import { pino } from 'pino';
import type { Pool } from 'pg';
import { createApp } from '../../../api/app.ts';
import type { KeyUses } from '../../../api/access/key-uses.ts';
import type { OpenedPages } from '../../../api/analytics/opened-pages.ts';
import { createAssistantParts, type AssistantPartsDeps } from '../../../api/assistant/wire/assistant-parts.ts';
import { readConfig } from '../../../api/config.ts';
import { createEvaluationRuns } from '../../../api/evaluations/run-evaluations.ts';
import { createGapChecks } from '../../../api/sites/gap-checks.ts';
import { repeat } from '../../../lib/repeat.ts';
import type { RequestHolders } from '../../../api/access/request-holders.ts';
import { createHttpServer } from '../../../api/http/server.ts';
import { createServiceStores } from '../../../api/service-stores.ts';
import { createApiStores } from '../../../api/stores.ts';
import { createJobEventWakeups } from '../../../db/jobs/job-event-wakeups.ts';
import { createPriceBook } from '../../../models/prices.ts';
import { createModelRegistry } from '../../../models/registry.ts';
import { readDescription } from '../../suites/fuzz/description.ts';
import { testPepper } from '../../support/database/build.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

export interface ServedApi extends AsyncDisposable {
  url: string;
  /** Everything it has logged so far. */
  log(): string;
  created: { count: number };
  /** The dependencies of its routers. */
  routes(): { method: string; path: string }[];
  /** Carries out the running evaluations. */
  evaluate(): Promise<void>;
  /** Runs one round of the gap checks. */
  checkGaps(): Promise<void>;
  /** Request counts, which the process stores every few seconds. */
  keyUses: KeyUses;
  /** Counts of opened pages, likewise. */
  openedPages: OpenedPages;
  /** Ends the streams of job events, as a shutdown does. */
  stop(): void;
  /**
   * Sends a request with a key and, for a POST, a JSON body; parses `body` of the response if it is JSON. Throws if the
   * response does not match the OpenAPI description.
   */
  ask(path: string, request?: AskOptions): Promise<Answer>;
}

export type ServedTimes = AssistantPartsDeps['times'] &
  Parameters<typeof createHttpServer>[1] & { maxTextLength?: number };

export interface AskOptions {
  key?: string | null;
  method?: string;
  json?: unknown;
  body?: string | Buffer;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: any;
}

/** The application on a free port, without a sweeper. It turns no question away because the machine is busy with tests. */
export async function serveApi(
  pool: Pool,
  env: Record<string, string> = {},
  { stalledMs, maxTextLength, ...times }: ServedTimes = {},
  holders?: RequestHolders,
): Promise<ServedApi> {
  await using cleanup = new AsyncDisposableStack();
  const config = readConfig({ DATABASE_URL: 'postgres://unused', DOCKET_KEY_PEPPER: testPepper, ...env });
  const cacheDirectory = temporaryDirectory();
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const stores = createApiStores({ pool, config });
  const service = createServiceStores({ pool, config });
  const models = createModelRegistry(config.models.settings);
  const assistant = cleanup.use(
    createAssistantParts({
      stores,
      indexChanges: service.indexChanges,
      log,
      models,
      modelName: config.models.assistant,
      prices: createPriceBook(config.prices),
      budgetMicros: config.budgets.organizationMicros,
      embeddingModel: embeddingModelOf(config.embedding, models),
      rerankingModel: config.models.reranking === null ? null : models.rerankingModel(config.models.reranking),
      cacheDirectory,
      times: { maxLoopDelayMs: 60_000, searchMs: 60_000, ...times },
      maxTextLength,
    }),
  );
  const created = { count: 0 };
  const url = pool.options.connectionString ?? '';
  const wakeups = cleanup.use(createJobEventWakeups({ url, pool }));
  const stopping = new AbortController();
  const { koa, keyUses, openedPages, openAnswers, polledJobs } = createApp({
    config,
    pool,
    holders,
    stores,
    service,
    models,
    assistant,
    log,
    onJobCreated: () => (created.count += 1),
    onJobCancelled: () => undefined,
    isDraining: () => false,
    dashboardDirectory: env['DASHBOARD'] ?? cacheDirectory,
    jobEvents: { wakeups, stopping: stopping.signal },
  });
  const { checkEveryMs, endRevoked } = openAnswers;
  cleanup.use(repeat({ name: 'ended access', everyMs: checkEveryMs, work: endRevoked, log }));
  cleanup.use(repeat({ name: 'polled jobs', everyMs: 1_000, work: () => polledJobs.check(), log }));
  const http = createHttpServer(koa.callback(), { stalledMs });
  const port = await http.listen({ host: '127.0.0.1', port: 0 });
  cleanup.defer(() => http.close(0));
  cleanup.defer(() => stopping.abort());
  const address = `http://127.0.0.1:${port}`;
  const description = await readDescription(address);
  const running = cleanup.move();

  return {
    url: address,
    created,
    routes: () => koa.middleware.flatMap(routesOf),
    keyUses,
    openedPages,
    stop: () => stopping.abort(),
    evaluate: createEvaluationRuns({ ...stores, ...assistant, ...service, log, stopping: stopping.signal }),
    checkGaps: createGapChecks({ ...stores, ...assistant, gaps: service.gapChecks, log, stopping: stopping.signal }),
    log: () => lines.join(''),
    async ask(path, { key, method, json, body, headers = {} } = {}) {
      const content = json === undefined ? body : JSON.stringify(json);
      const response = await fetch(address + path, {
        method: method ?? (content === undefined ? 'GET' : 'POST'),
        body: content === undefined ? undefined : Buffer.from(content),
        headers: {
          ...(key ? { authorization: `Bearer ${key}` } : {}),
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
      });
      const text = await response.text();
      const type = response.headers.get('content-type') ?? '';
      const asked = method ?? (content === undefined ? 'GET' : 'POST');
      const [described = ''] = path.split('?');
      if (isDescribed({ method: asked, path: described, status: response.status, type })) {
        const problem = description.problemWith({
          method: asked,
          path: described,
          status: response.status,
          type,
          text,
        });
        if (problem !== null)
          throw new Error(`The API does not keep to its description: ${asked} ${described}: ${problem}`);
      }
      const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: isJson && text !== '' ? JSON.parse(text) : null,
      };
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** HTML pages, their files and unknown paths are not described. */
function isDescribed({ method, path, status, type }: { method: string; path: string; status: number; type: string }) {
  if (method === 'HEAD' || method === 'OPTIONS' || path.startsWith('/assets/') || type.startsWith('text/html'))
    return false;
  return status !== 404 && status !== 405;
}

/** Returns the routes of a router among the middleware. */
function routesOf(middleware: object): { method: string; path: string }[] {
  const { router } = middleware as { router?: { stack: { methods: string[]; path: string | RegExp }[] } };
  const layers = router?.stack ?? [];
  return layers.flatMap(({ methods, path }) => methods.map((method) => ({ method, path: String(path) })));
}

/** A response without what may differ between two requests that must be indistinguishable. */
export function comparable({ status, headers, text }: Answer): unknown {
  const kept = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
  return { status, headers: kept, text };
}
