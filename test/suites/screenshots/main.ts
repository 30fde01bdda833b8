import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { answerOf } from '../../../cli/http/api.ts';
import { flag, readTool } from '../../../lib/inputs/tool-arguments.ts';
import { findBrowser, launchBrowser } from '../../support/browser/browser.ts';
import { visitDashboard } from '../../support/browser/dashboard.ts';
import { startHostedForge, type HostedForge } from '../../support/forges/hosted-forge.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startTestStack } from '../../support/stack/stack.ts';
import { apiOf, type Stage } from './jobs.ts';
import { insertPast } from './past.ts';
import { askReaders, createSettings, evaluateSite } from './readers.ts';
import { createHostedScenes } from './hosted-scenes.ts';
import { publicScenes, stoppedScenes, widgetScenes } from './frame-scenes.ts';
import type { Scene } from './scene.ts';
import { emptyScenes, fullScenes, runningScenes } from './scenes.ts';
import { startQueuedJob, startRunningJob, createSampleJobs } from './sample-jobs.ts';

const { options, words: wanted } = readTool({
  command: 'npm run screenshots --',
  about: 'Takes pictures of every page and dialog of the dashboard, or of the scenes whose names begin as given.',
  options: { docs: flag().describe('renews the pictures of the documentation instead') },
  words: { name: 'SCENE' },
});
const checkout = resolve(import.meta.dirname, '../../..');
const folder = options.docs ? join(checkout, 'docs/dashboard') : join(checkout, 'test-results/screenshots');
const model = 'compatible/qwen3-coder';

/** Pictures of the documentation, by the scene that each shows. */
const documented: Record<string, string> = {
  jobs: 'jobs',
  job: 'job',
  changes: 'changes',
  'pull-request': 'pull-request',
  'job-wrong-ref': 'failed-job',
  'new-job-offline': 'new-job',
  playground: 'playground',
  gaps: 'gaps',
  operations: 'operations',
  keys: 'keys',
};

const widths = options.docs ? [1280] : [1440, 390];
const colorSchemes = options.docs ? (['light'] as const) : (['light', 'dark'] as const);

function isWanted({ name }: Scene): boolean {
  if (options.docs && !(name in documented)) return false;
  return wanted.length === 0 || wanted.some((beginning) => name.startsWith(beginning));
}

async function show(page: Page, base: string, { path, prepare, isOverlay }: Scene): Promise<void> {
  await page.goto(new URL(path, base).href);
  await page.locator('main h1, main h2').first().waitFor();
  await page.waitForFunction(() => document.querySelector('.loading:not(.design-part *)') === null);
  await prepare?.(page);
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  if (options.docs || isOverlay === true) return;
  // a picture of the whole page has its frame at the top, and no end of a window
  await page.evaluate(() => {
    scrollTo(0, 0);
    document.querySelector<HTMLElement>('.follow-up')?.style.setProperty('position', 'static');
  });
}

/** Takes pictures of scenes, each at all widths and in all colors. Prints the scenes that failed, and goes on. */
async function takeAll(open: (width: number) => Promise<Visit>, base: string, scenes: Scene[]) {
  const chosen = scenes.filter(isWanted);
  if (chosen.length === 0) return;
  for (const width of widths) {
    await using visit = await open(width);
    const { page } = visit;
    for (const scene of chosen) {
      try {
        await show(page, base, scene);
        for (const colorScheme of colorSchemes) {
          // the page is loaded and prepared once: only its colors change
          await page.emulateMedia({ colorScheme });
          const name = options.docs ? documented[scene.name] : `${scene.name}-${width}-${colorScheme}`;
          const path = join(folder, `${name}.png`);
          await page.screenshot({ path, fullPage: !options.docs && scene.isOverlay !== true });
          process.stdout.write(`${path}\n`);
        }
      } catch (error) {
        process.exitCode = 1;
        await page.screenshot({ path: join(folder, `failed-${scene.name}-${width}.png`) });
        process.stderr.write(`${scene.name}, ${width} pixels wide: ${String(error)}\n`);
      }
      await page.context().setOffline(false);
    }
  }
}

interface Visit extends AsyncDisposable {
  page: Page;
}

async function visitSignedOut(browser: Browser, width: number): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width, height: 860 } });
  context.setDefaultTimeout(30_000);
  return { page: await context.newPage(), [Symbol.asyncDispose]: () => context.close() };
}

async function takePictures(browser: Browser, stage: Stage, forge: HostedForge): Promise<void> {
  const { stack, pool } = stage;
  const { projectId, dashboardUrl, domain, assistantKey } = stack.localJson;
  const signedIn = (width: number) => visitDashboard(browser, stack, { width });
  const signedOut = (width: number) => visitSignedOut(browser, width);
  const take = (scenes: Scene[]) => takeAll(signedIn, dashboardUrl, scenes);
  await take(emptyScenes());
  await takeAll(signedOut, dashboardUrl, [...publicScenes(), ...widgetScenes(domain, assistantKey)]);
  await answerOf(stage.api.PATCH('/v1/projects/{id}', { params: { path: { id: projectId } }, body: { model } }));
  const samples = await createSampleJobs(stage);
  const hosted = await createHostedScenes({ ...stage, forge, modelName: model });
  await insertPast(pool, projectId, model);
  await askReaders(stage);
  await evaluateSite(stage);
  await createSettings(stage);
  const running = await startRunningJob(stage);
  // first, because the job does not run for long
  await take(runningScenes(running));
  await take(fullScenes(samples));
  await take(hosted.scenes);
  await stack.pause('worker');
  await take(stoppedScenes(await startQueuedJob(stage)));
  await stack.resume('worker');
  // last, because this also takes the grants that the other projects need
  await take(await hosted.withoutGrant());
}

const chromium = findBrowser('Chromium');
if (chromium === null) throw new Error('Set CHROMIUM_PATH.');
if (!options.docs && wanted.length === 0) await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await using server = await startScriptedModelServer();
await using forge = await startHostedForge();
await using stack = await startTestStack({ env: { ...environmentOf(server.baseUrl), ...forge.env } });
await using browser = await launchBrowser('Chromium', chromium);
const pool = new pg.Pool({ connectionString: stack.localJson.databaseUrl, max: 2 });
try {
  await takePictures(browser, { stack, api: apiOf(stack), model: server, pool }, forge);
} finally {
  await pool.end();
}

function environmentOf(modelUrl: string): NodeJS.ProcessEnv {
  return {
    OPENAI_COMPATIBLE_BASE_URL: modelUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
    DOCKET_SELF_REVIEW: 'off',
    DOCKET_RUN_SECONDS: '480',
    DOCKET_MODEL_PRICES: JSON.stringify({ [model]: { input: 0.6, cachedInput: 0.1, output: 2.4, window: 262_144 } }),
    DOCKET_WEBHOOK_ALLOWED_HOSTS: '127.0.0.1:9',
  };
}
