import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, inject } from 'vitest';
import { localJsonSchema } from '../../../local/local-json.ts';
import { untilSiteAnswers } from '../../../local/processes/services.ts';
import { provision } from '../../../local/provision.ts';
import { testPepper } from '../database/build.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../servers/scripted-model-server.ts';
import { startTestStack, type TestStack } from '../stack/stack.ts';
import { findBrowser, launchBrowser } from './browser.ts';

/** Null on a machine without Chromium, where the tests of the dashboard are left out. */
export const chromiumPath = findBrowser('Chromium');

/** A stack, or the part of the shared one that belongs to a file: a folder, an organization and its keys. */
export type StackOfFile = Pick<TestStack, 'home' | 'localJson'>;

export interface DashboardOfFile<Stack = StackOfFile> {
  stack: Stack;
  browser: Browser;
  pool: pg.Pool;
}

/** Starts a stack and a browser before the tests of a file, and ends them afterwards. */
function startForFile<Stack extends StackOfFile>(
  start: (resources: AsyncDisposableStack) => Promise<Stack>,
): DashboardOfFile<Stack> {
  const resources = new AsyncDisposableStack();
  const started = {} as DashboardOfFile<Stack>;
  beforeAll(async () => {
    if (chromiumPath === null) return;
    started.stack = await start(resources);
    started.browser = await launchBrowser('Chromium', chromiumPath);
    resources.defer(() => started.browser.close());
    started.pool = new pg.Pool({ connectionString: started.stack.localJson.databaseUrl, max: 2 });
    resources.defer(() => started.pool.end());
  });
  afterAll(() => resources.disposeAsync());
  return started;
}

/** A dashboard on the stack of all files, with an organization, a sample repository, a site and keys of this file. */
export function dashboardStack(): DashboardOfFile {
  return startForFile(() => provisionForFile(null));
}

/** The same, with a scripted model for the jobs. */
export function dashboardStackWithModel(): DashboardOfFile & { model: ScriptedModelServer } {
  const started = startForFile(async (resources) => {
    started.model = resources.use(await startScriptedModelServer());
    return provisionForFile(`compatible/${new URL(started.model.baseUrl).port}`);
  }) as DashboardOfFile & { model: ScriptedModelServer };
  return started;
}

/** A dashboard on a stack that only this file uses. `prepare` returns the variables to start it with. */
export function ownDashboardStack(
  prepare: (resources: AsyncDisposableStack) => Promise<Record<string, string>> = () => Promise.resolve({}),
): DashboardOfFile<TestStack> {
  return startForFile(async (resources) => resources.use(await startTestStack({ env: await prepare(resources) })));
}

async function provisionForFile(model: string | null): Promise<StackOfFile> {
  const response = await fetch(inject('dashboardStackUrl'));
  if (!response.ok) throw new Error(await response.text());
  const localJson = localJsonSchema.parse(await response.json());
  const home = await mkdtemp(join(localJson.folders!.repositories, 'of-'));
  const pool = new pg.Pool({ connectionString: localJson.databaseUrl, max: 1 });
  try {
    const repositories = join(home, 'repositories');
    const own = await provision({ pool, keyPepper: testPepper, repositories, documentation: null, known: null });
    await pool.query('update projects set model = $1 where id = $2', [model, own.projectId]);
    const waiting = { log: console.error, signal: AbortSignal.timeout(120_000) };
    await untilSiteAnswers({ probeUrl: localJson.baseUrl, ...own, ...waiting });
    return { home, localJson: { ...localJson, ...own } };
  } finally {
    await pool.end();
  }
}

/** Expires all sessions of the file's organization. */
export async function expireSessions({ pool, stack }: DashboardOfFile): Promise<void> {
  await pool.query(
    `update sessions set expires_at = now() from projects
     where projects.id = $1 and sessions.organization_id = projects.organization_id`,
    [stack.localJson.projectId],
  );
}
