import { createTestDatabase } from '../../support/database/database.ts';
import type { TestDatabase } from '../../support/database/database.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import type { ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { serveApi } from '../api/serve.ts';
import type { ServedApi, ServedTimes } from '../api/serve.ts';
import { openStream } from '../../support/sdk-clients/open-stream.ts';
import type { OpenOptions, OpenStream } from '../../support/sdk-clients/open-stream.ts';
import { buildIndexedSite, question } from './site.ts';
import type { TestSite } from './site.ts';

export interface ModelApi extends AsyncDisposable {
  database: TestDatabase;
  model: ScriptedModelServer;
  docs: TestSite;
  /** Application instances on the same database. */
  apis: ServedApi[];
  /** Sends a question to the first instance, and resolves with the head of the stream. */
  ask(protocol: 'v1' | 'v2', more?: Record<string, unknown>, options?: Partial<OpenOptions>): Promise<OpenStream>;
  /** Returns how many answers of the first instance have failed, by its metrics. */
  failedAnswers(): Promise<number>;
}

/** Limits that no stream test reaches by accident, however slow the machine is. */
const patientTimes = { writerDeadSeconds: 60, deliveredAfterMs: 1_500, resumePollMs: 20 };

/** The assistant in front of a scripted model, with an indexed site. */
export async function serveModelApi({
  times = {},
  instances = 1,
}: { times?: ServedTimes; instances?: number } = {}): Promise<ModelApi> {
  await using cleanup = new AsyncDisposableStack();
  const database = cleanup.use(await createTestDatabase());
  const model = cleanup.use(await startScriptedModelServer());
  const env = {
    DOCKET_ASSISTANT_MODEL: 'compatible/x',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
  };
  const apis: ServedApi[] = [];
  for (let count = 0; count < instances; count += 1)
    apis.push(cleanup.use(await serveApi(database.pool, env, { ...patientTimes, ...times })));
  const docs = await buildIndexedSite(database.pool, { baseUrl: 'https://docs.example.com' });
  const running = cleanup.move();
  return {
    database,
    model,
    docs,
    apis,
    ask: (protocol, more = {}, options = {}) =>
      openStream(`${apis[0]?.url}/discovery/${protocol}/assistant/${docs.site.domain}/message`, {
        key: docs.assistantKey,
        json: question('How do I change the retry limit?', more),
        ...options,
      }),
    async failedAnswers() {
      const text = await (await fetch(`${apis[0]?.url}/metrics`)).text();
      return Number(/^docket_answers_total\{ending="failed"\} (\d+)$/m.exec(text)?.[1]);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
