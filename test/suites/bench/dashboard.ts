import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { findBrowser, launchBrowser } from '../../support/browser/browser.ts';
import { visitDashboard, type DashboardVisit } from '../../support/browser/dashboard.ts';
import { insertActiveJob, insertEndedJobs, insertSteps } from '../../support/database/many-jobs.ts';
import { longestTaskOf, type LongestTask } from '../../support/browser/page-tasks.ts';
import { startTestStack, type TestStack } from '../../support/stack/stack.ts';
import { figure, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import type { BenchOptions } from './support/options.ts';

const maxCpuMs = 200;
/** Opening and closing a dialog is the answer to one key or click. */
const maxDialogCpuMs = 100;

interface Setting {
  browser: Browser;
  stack: TestStack;
  pool: pg.Pool;
  visit: DashboardVisit;
}

/**
 * Measures how long the dashboard's pages block their main thread, with 10,000 jobs and with a job of 2,000 steps.
 * Exits with 1 if that exceeds the goal.
 */
export async function benchDashboard(_servers: BenchServers, { isQuick }: BenchOptions): Promise<void> {
  const chromium = findBrowser('Chromium');
  if (chromium === null) return printNote('dashboard: left out, there is no Chromium.');
  await using resources = new AsyncDisposableStack();
  const stack = resources.use(await startTestStack());
  const browser = await launchBrowser('Chromium', chromium);
  resources.defer(() => browser.close());
  const pool = new pg.Pool({ connectionString: stack.localJson.databaseUrl, max: 2 });
  resources.defer(() => pool.end());
  const visit = resources.use(await visitDashboard(browser, stack));
  const setting = { browser, stack, pool, visit };
  const [jobs, steps] = isQuick ? [2_000, 500] : [10_000, 2_000];
  const rows = [...(await listFigures(setting, jobs)), ...(await jobFigures(setting, steps))];
  printTable(
    'dashboard: the longest task of a page',
    ['page', 'what happens', 'CPU ms', 'wall ms', 'aim: CPU ms'],
    rows.map(({ page, what, task, aimMs }) => [page, what, figure(task.cpuMs), figure(task.wallMs), `≤ ${aimMs}`]),
  );
  printNote(`The aims are for the page's own CPU time. What else the machine does is in the wall time only.`);
  if (rows.some(({ task, aimMs }) => task.cpuMs > aimMs)) process.exitCode = 1;
}

interface Figure {
  page: string;
  what: string;
  task: LongestTask;
  aimMs: number;
}

interface MeasuredDialog {
  name: string;
  open(page: Page): Promise<void>;
}

const press = (key: string) => (page: Page) => page.keyboard.press(key);
const click = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).first().click();

const listDialogs: MeasuredDialog[] = [
  { name: 'the command palette', open: press('Control+k') },
  { name: 'the keyboard shortcuts', open: press('?') },
];
const jobDialogs: MeasuredDialog[] = [
  { name: 'the command palette', open: press('Control+k') },
  { name: 'the palette of jobs to compare', open: click('Compare with…') },
  { name: 'the dialog that forks', open: click(/^Fork from step/) },
  { name: 'the dialog that deletes', open: click('Delete') },
];

/** Measures each dialog twice: the first time, its code is loaded, too. */
async function dialogFigures({ browser, visit: { page } }: Setting, name: string, dialogs: MeasuredDialog[]) {
  const figures: Figure[] = [];
  const dialog = page.locator('[role=dialog], [role=alertdialog]');
  for (const { name: what, open } of dialogs) {
    for (const time of ['', ' again']) {
      const opening = await longestTaskOf(browser, page, async () => {
        await open(page);
        await dialog.first().waitFor();
      });
      const closing = await longestTaskOf(browser, page, async () => {
        await page.keyboard.press('Escape');
        await dialog.first().waitFor({ state: 'detached' });
      });
      figures.push(
        { page: name, what: `opening ${what}${time}`, task: opening, aimMs: maxDialogCpuMs },
        { page: name, what: `closing ${what}${time}`, task: closing, aimMs: maxDialogCpuMs },
      );
    }
  }
  return figures;
}

async function listFigures(setting: Setting, count: number): Promise<Figure[]> {
  const { browser, stack, pool, visit } = setting;
  const { projectId, baseUrl } = stack.localJson;
  const { page } = visit;
  const name = `${count} jobs`;
  await insertEndedJobs(pool, projectId, count);
  const loading = await longestTaskOf(browser, page, async () => {
    await page.goto(`${baseUrl}/jobs`);
    await page.getByText('Job number 1', { exact: true }).waitFor();
  });
  const last = page.getByText(`Job number ${count}`, { exact: true });
  const scrolling = await longestTaskOf(browser, page, () => scrollUntil(page, () => last.isVisible()));
  const live = await longestTaskOf(browser, page, async () => {
    for (let round = 1; round <= 20; round += 1) {
      await pool.query(
        `update jobs set title = 'Changed ' || $1 || ' of ' || id, updated_at = clock_timestamp() where id in
           (select id from jobs where project_id = $2 order by created_at limit 25)`,
        [String(round), projectId],
      );
      await page.getByText(`Changed ${round} of job_many${count}`, { exact: true }).waitFor();
    }
  });
  return [
    { page: name, what: 'loading', task: loading, aimMs: maxCpuMs },
    { page: name, what: 'scrolling through all of them', task: scrolling, aimMs: maxCpuMs },
    { page: name, what: '500 live changes of what is in sight', task: live, aimMs: maxCpuMs },
    ...(await dialogFigures(setting, name, listDialogs)),
  ];
}

async function jobFigures(setting: Setting, count: number): Promise<Figure[]> {
  const { browser, stack, pool, visit } = setting;
  const { projectId, baseUrl } = stack.localJson;
  const { page } = visit;
  const name = `a job of ${count} steps`;
  const id = await insertActiveJob(pool, projectId, 'job_longest');
  const followed = 200;
  await insertSteps(pool, id, { from: 1, to: count - followed });
  const loading = await longestTaskOf(browser, page, async () => {
    await page.goto(`${baseUrl}/jobs/${projectId}/${id}`);
    await page.getByRole('heading', { name: 'Step 1', exact: true }).waitFor();
  });
  const scrolling = await longestTaskOf(browser, page, () =>
    scrollUntil(page, () => page.getByRole('heading', { name: `Step ${count - followed}`, exact: true }).isVisible()),
  );
  const following = await longestTaskOf(browser, page, async () => {
    await page.getByRole('button', { name: 'Follow' }).click();
    for (let step = count - followed + 1; step <= count; step += 1) {
      await insertSteps(pool, id, { from: step, to: step });
      if (step % 20 === 0) await page.getByRole('heading', { name: `Step ${step}`, exact: true }).waitFor();
    }
  });
  return [
    { page: name, what: 'loading', task: loading, aimMs: maxCpuMs },
    { page: name, what: 'scrolling through all of them', task: scrolling, aimMs: maxCpuMs },
    { page: name, what: `following ${followed} further steps`, task: following, aimMs: maxCpuMs },
    ...(await dialogFigures(setting, name, jobDialogs)),
  ];
}

/** Scrolls down by one screen for each frame that the page has drawn. */
async function scrollUntil(page: Page, isThere: () => Promise<boolean>): Promise<void> {
  for (let scrolls = 0; scrolls < 20_000; scrolls += 1) {
    if (await isThere()) return;
    await page.evaluate(
      () =>
        new Promise((resolve) => {
          window.scrollBy(0, 800);
          requestAnimationFrame(() => requestAnimationFrame(resolve));
        }),
    );
  }
  throw new Error('The end of the page was never in sight.');
}
