import pg from 'pg';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { findBrowser, launchBrowser } from './browser.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../servers/scripted-model-server.ts';
import { startTestStack, type TestStack } from '../stack/stack.ts';

/** Null on a machine without Chromium, where the tests of the dashboard are left out. */
export const chromiumPath = findBrowser('Chromium');

export interface DashboardOfFile {
  stack: TestStack;
  browser: Browser;
  pool: pg.Pool;
}

/** Starts what the stack needs, and returns the variables to start it with. */
type Prepare = (resources: AsyncDisposableStack) => Promise<Record<string, string>>;

/** Starts a stack and a browser before the tests of a file, and ends them afterwards. */
export function startForFile(prepare: Prepare = () => Promise.resolve({})): DashboardOfFile {
  const resources = new AsyncDisposableStack();
  const started = {} as DashboardOfFile;
  beforeAll(async () => {
    if (chromiumPath === null) return;
    started.stack = resources.use(await startTestStack({ env: await prepare(resources) }));
    started.browser = await launchBrowser('Chromium', chromiumPath);
    resources.defer(() => started.browser.close());
    started.pool = new pg.Pool({ connectionString: started.stack.localJson.databaseUrl, max: 2 });
    resources.defer(() => started.pool.end());
  });
  afterAll(() => resources.disposeAsync());
  return started;
}

/** Starts them with a scripted model for the jobs and without self-review. */
export function startWithModelForFile(): DashboardOfFile & { model: ScriptedModelServer } {
  const started = startForFile(async (resources) => {
    const model = resources.use(await startScriptedModelServer());
    Object.assign(started, { model });
    return {
      OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
      OPENAI_COMPATIBLE_API_KEY: 'key',
      DOCKET_AGENT_MODEL: 'compatible/writer',
      DOCKET_SELF_REVIEW: 'off',
    };
  }) as DashboardOfFile & { model: ScriptedModelServer };
  return started;
}
