import pg from 'pg';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { findChromium, launchChromium } from './browser.ts';
import { startTestStack, type TestStack } from './stack.ts';

/** Null on a machine without Chromium, where the tests of the dashboard are left out. */
export const chromiumPath = findChromium();

export interface DashboardOfFile {
  stack: TestStack;
  browser: Browser;
  pool: pg.Pool;
}

/** Starts a stack and a browser before the tests of a file, and ends them afterwards. */
export function startForFile(): DashboardOfFile {
  const resources = new AsyncDisposableStack();
  const started = {} as DashboardOfFile;
  beforeAll(async () => {
    if (chromiumPath === null) return;
    started.stack = resources.use(await startTestStack());
    started.browser = await launchChromium(chromiumPath);
    resources.defer(() => started.browser.close());
    started.pool = new pg.Pool({ connectionString: started.stack.localJson.databaseUrl, max: 2 });
    resources.defer(() => started.pool.end());
  });
  afterAll(() => resources.disposeAsync());
  return started;
}
