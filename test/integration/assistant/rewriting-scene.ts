import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { serveApi, type ServedApi } from '../api/serve.ts';
import { buildIndexedSite, eventsOf, pages, publishPages, textOf, type TestSite } from './site.ts';

const files = {
  ...pages,
  'guides/logs.md': '# Logs\n\n## Rotate logs\n\nLogs are rotated every day. Set `logDays` to keep them longer.\n',
  'staff/rates.md': '---\ngroups: [staff]\n---\n\n# Marigold rates\n\nThe retry limit of staff is 9.\n',
};

export interface RewritingScene extends AsyncDisposable {
  database: TestDatabase;
  model: ScriptedModelServer;
  /** A site whose questions are searched for as they are. */
  plain: TestSite;
  /** A site with the same pages, whose questions the model `compatible/rewriter` rewrites. */
  docs: TestSite;
  rewritingSite(settings?: Parameters<typeof buildIndexedSite>[1]): Promise<TestSite>;
  /** Each API has its own record of models that failed, and of queries. */
  serve(env?: Record<string, string>, rewritingMs?: number): Promise<ServedApi>;
}

export async function openRewritingScene(): Promise<RewritingScene> {
  await using resources = new AsyncDisposableStack();
  const database = resources.use(await createTestDatabase());
  const model = resources.use(await startScriptedModelServer());
  const siteOf: RewritingScene['rewritingSite'] = async (settings) => {
    const site = await buildIndexedSite(database.pool, settings);
    await publishPages(database.pool, site.site, files);
    return site;
  };
  const rewritingSite: typeof siteOf = (settings) => siteOf({ queryRewriting: 'compatible/rewriter', ...settings });
  const [plain, docs] = [await siteOf(), await rewritingSite()];
  const running = resources.move();
  return {
    database,
    model,
    plain,
    docs,
    rewritingSite,
    serve: (env = {}, rewritingMs = 60_000) =>
      serveApi(
        database.pool,
        { OPENAI_COMPATIBLE_BASE_URL: model.baseUrl, OPENAI_COMPATIBLE_API_KEY: 'key', ...env },
        { rewritingMs },
      ),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** A reply whose tokens are all that a query may have. */
export const query = { text: 'delay between two retries', usage: { inputTokens: 10, outputTokens: 300 } };

/** Messages of the reader and the assistant, in turns. */
export const conversation = (...texts: string[]) =>
  texts.map((content, at) => ({ id: String(at), role: at % 2 === 0 ? 'user' : 'assistant', content }));

/** A follow-up question that has none of the words of the pages. */
export const followUp = conversation(
  'How often is a request retried?',
  'Three times. See Marigold.',
  'Und dazwischen?',
);

export async function ask(
  api: ServedApi,
  { site, assistantKey: key }: TestSite,
  { headers, ...more }: Record<string, unknown> & { headers?: Record<string, string> } = {},
) {
  const json = { fp: 'anonymous', messages: followUp, ...more };
  const answer = await api.ask(`/discovery/v2/assistant/${site.domain}/message`, { key, json, headers });
  const sources = eventsOf(answer.text).filter(({ type }) => type === 'source-url');
  return { status: answer.status, text: textOf(answer.text), sources: sources.map(({ url }) => url), answer };
}

/** How many questions were rewritten, by the outcome that the metrics name. */
export async function outcomesOf(api: ServedApi): Promise<Record<string, number>> {
  const text = await (await fetch(`${api.url}/metrics`)).text();
  const counted = text.matchAll(/^docket_query_rewrites_total\{outcome="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...counted].map(([, outcome, count]) => [outcome, Number(count)]));
}
