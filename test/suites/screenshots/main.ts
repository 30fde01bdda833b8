import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { findChromium, launchChromium } from '../../support/browser.ts';
import { commitOnMain, startJob, untilStatus, visitDashboard } from '../../support/dashboard.ts';
import { startTestStack, type TestStack } from '../../support/stack.ts';

// Takes screenshots of every page of the dashboard for people to look at: `npm run screenshots`. With `--docs`, it renews
// the pictures of the documentation instead.

const { values: options } = parseArgs({ options: { docs: { type: 'boolean', default: false } } });
const checkout = resolve(import.meta.dirname, '../../..');
const folder = options.docs ? join(checkout, 'docs/dashboard') : join(checkout, 'test-results/screenshots');

interface Scene {
  name: string;
  path: string;
  /** Brings the page into the state that is shown. */
  prepare?(page: Page): Promise<void>;
}

async function ask({ localJson }: TestStack, question: string): Promise<void> {
  const { baseUrl, domain, assistantKey } = localJson;
  const answer = await fetch(`${baseUrl}/discovery/v2/assistant/${domain}/message`, {
    method: 'POST',
    headers: { authorization: `Bearer ${assistantKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      fp: 'anonymous',
      messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: question }] }],
    }),
  });
  await answer.text();
}

/** Starts a job and returns the address of its page once it has ended. */
async function endedJob(page: Page, prompt: string, status: 'completed' | 'failed' = 'completed'): Promise<string> {
  await startJob(page, prompt);
  await untilStatus(page, status);
  return new URL(page.url()).pathname;
}

async function pullOf(page: Page): Promise<string> {
  const href = await page.getByRole('link', { name: 'View' }).getAttribute('href');
  return new URL(href ?? '').pathname;
}

/** Fills the stack with jobs, pull requests and questions, and returns what to show of it. */
async function prepareScenes(browser: Browser, stack: TestStack): Promise<Scene[]> {
  await using visit = await visitDashboard(browser, stack);
  const { page } = visit;
  const first = { name: 'first-run', path: '/jobs' };
  if (!options.docs) await takeAll(browser, stack, [first]);
  const job = await endedJob(
    page,
    'Replace "colour" with "color" everywhere. Create docs/guides/groups.md with "# Groups\\n\\nA group is several lamps that act as one."',
  );
  const pull = await pullOf(page);
  await page.getByLabel('Request a change').fill('Append "A lamp can be in several groups." to docs/guides/groups.md');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('region', { name: 'Turn 2' }).waitFor();
  await untilStatus(page, 'completed');
  const clash = await endedJob(page, 'Create CHANGES.md with "Ours."');
  const conflict = await pullOf(page);
  await commitOnMain(stack, 'CHANGES.md', 'Theirs.\n');
  await page.getByRole('link', { name: 'New job' }).click();
  await page.getByLabel('What should change?').fill('Delete README.md');
  await page.getByLabel('Branch, tag or commit').fill('no-such-branch');
  await page.getByRole('button', { name: 'Start job' }).click();
  await untilStatus(page, 'failed');
  const failed = new URL(page.url()).pathname;
  const questions = [
    'How do I run a scene?',
    'Is there a mobile app for Android?',
    'Does the lamp work without Wi-Fi?',
  ];
  for (const question of questions) await ask(stack, question);
  await startJob(page, 'Run "for i in $(seq 40); do echo test $i passed; sleep 0.2; done; sleep 600"');
  const running = new URL(page.url()).pathname;
  await page.getByRole('log', { name: 'Output' }).getByText('test 9 passed').waitFor();
  const compare = `/compare?left=${addressOf(job)}&right=${addressOf(clash)}`;
  return [
    { name: 'running-job', path: running, prepare: (page) => page.getByRole('log').waitFor() },
    { name: 'jobs', path: '/jobs' },
    { name: 'new-job', path: '/new' },
    { name: 'job', path: job },
    { name: 'failed-job', path: failed },
    { name: 'changes', path: `${job}?tab=changes`, prepare: (page) => page.locator('.diff').first().waitFor() },
    {
      name: 'step',
      path: job,
      prepare: (page) => page.getByRole('button', { name: 'Inspect step 1' }).first().click(),
    },
    { name: 'compare', path: compare },
    { name: 'pull-requests', path: '/pulls' },
    { name: 'pull-request', path: pull, prepare: (page) => page.getByText('No conflicts with').waitFor() },
    { name: 'conflict', path: conflict, prepare: (page) => page.getByText('Conflicts with main.').waitFor() },
    { name: 'merge', path: pull, prepare: (page) => page.getByRole('button', { name: 'Merge', exact: true }).click() },
    {
      name: 'playground',
      path: '/playground',
      async prepare(page) {
        await page.getByLabel('Question').fill('How do I run a scene?');
        await page.getByRole('button', { name: 'Ask', exact: true }).click();
        await page.getByText('Did this help?').waitFor();
        await page.locator('.answer pre').waitFor();
      },
    },
    { name: 'conversations', path: '/conversations' },
    { name: 'gaps', path: '/gaps' },
    { name: 'analytics', path: '/analytics' },
    { name: 'operations', path: '/operations' },
    ...['keys', 'projects', 'sites', 'webhooks', 'audit'].map((name) => ({ name, path: `/settings/${name}` })),
    { name: 'palette', path: '/jobs', prepare: (page) => page.keyboard.press('Control+k') },
    { name: 'shortcuts', path: '/jobs', prepare: (page) => page.keyboard.press('?') },
    { name: 'design', path: '/design' },
    { name: 'not-found', path: '/nope' },
  ];
}

/** Returns a job's address as the page that compares jobs takes it. */
function addressOf(path: string): string {
  return encodeURIComponent(path.replace('/jobs/', ''));
}

async function show(page: Page, stack: TestStack, { path, prepare }: Scene): Promise<void> {
  await page.goto(stack.localJson.baseUrl + path);
  await page.locator('main h1, main h2').first().waitFor();
  await page.waitForFunction(() => document.querySelector('.loading:not(.design-part *)') === null);
  await prepare?.(page);
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
}

const variants = options.docs
  ? [{ width: 1280, colorScheme: 'light' as const }]
  : [1440, 390].flatMap((width) => (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })));

/** Takes each scene in all variants, because a running job does not run for long. */
async function takeAll(browser: Browser, stack: TestStack, scenes: Scene[]): Promise<void> {
  await using visits = new AsyncDisposableStack();
  const opened: { page: Page; suffix: string }[] = [];
  for (const variant of variants) {
    const { page } = visits.use(await visitDashboard(browser, stack, variant));
    opened.push({ page, suffix: options.docs ? '' : `-${variant.width}-${variant.colorScheme}` });
  }
  for (const scene of scenes) {
    for (const { page, suffix } of opened) {
      await show(page, stack, scene);
      const path = join(folder, `${scene.name}${suffix}.png`);
      await page.screenshot({ path, fullPage: !options.docs });
      process.stdout.write(`${path}\n`);
    }
  }
}

const documented = new Set([
  'jobs',
  'job',
  'changes',
  'pull-request',
  'failed-job',
  'new-job',
  'playground',
  'gaps',
  'operations',
  'keys',
]);

const chromium = findChromium();
if (chromium === null) throw new Error('Set CHROMIUM_PATH.');
await mkdir(folder, { recursive: true });
await using stack = await startTestStack();
const browser = await launchChromium(chromium);
try {
  const scenes = await prepareScenes(browser, stack);
  await takeAll(browser, stack, options.docs ? scenes.filter(({ name }) => documented.has(name)) : scenes);
} finally {
  await browser.close();
}
