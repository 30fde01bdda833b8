import pg from 'pg';
import type { Browser, Page } from 'playwright-core';
import { findChromium, launchChromium } from '../../support/browser.ts';
import { visitDashboard, type DashboardVisit } from '../../support/dashboard.ts';
import { insertActiveJob, insertEndedJobs, insertSteps } from '../../support/many-jobs.ts';
import { longestTaskOf } from '../../support/page-tasks.ts';
import { startTestStack, type TestStack } from '../../support/stack.ts';
import { figure, printNote, printTable } from './support/report.ts';
import type { BenchServers } from './support/servers.ts';
import type { BenchOptions } from './support/options.ts';

const mostCpuMs = 200;

interface Setting {
  browser: Browser;
  stack: TestStack;
  pool: pg.Pool;
  visit: DashboardVisit;
}

/** How long the dashboard's pages block, with 10,000 jobs and with a job of 2,000 steps. Exits with 1 above the goal. */
export async function benchDashboard(_servers: BenchServers, { isQuick }: BenchOptions): Promise<void> {
  const chromium = findChromium();
  if (chromium === null) return printNote('dashboard: left out, there is no Chromium.');
  await using resources = new AsyncDisposableStack();
  const stack = resources.use(await startTestStack());
  const browser = await launchChromium(chromium);
  resources.defer(() => browser.close());
  const pool = new pg.Pool({ connectionString: stack.localJson.databaseUrl, max: 2 });
  resources.defer(() => pool.end());
  const visit = resources.use(await visitDashboard(browser, stack));
  const setting = { browser, stack, pool, visit };
  const [jobs, steps] = isQuick ? [2_000, 500] : [10_000, 2_000];
  const rows = [...(await listFigures(setting, jobs)), ...(await jobFigures(setting, steps))];
  printTable(
    'dashboard: the longest task of a page',
    ['page', 'what happens', 'CPU ms', 'wall ms'],
    rows.map(([page, what, { cpuMs, wallMs }]) => [page, what, figure(cpuMs), figure(wallMs)]),
  );
  printNote(`aim: ≤ ${mostCpuMs} ms of the page's own CPU time. What else the machine does is in the wall time only.`);
  if (rows.some(([, , { cpuMs }]) => cpuMs > mostCpuMs)) process.exitCode = 1;
}

type Figure = [page: string, what: string, task: Awaited<ReturnType<typeof longestTaskOf>>];

async function listFigures({ browser, stack, pool, visit }: Setting, count: number): Promise<Figure[]> {
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
    [name, 'loading', loading],
    [name, 'scrolling through all of them', scrolling],
    [name, '500 live changes of what is in sight', live],
  ];
}

async function jobFigures({ browser, stack, pool, visit }: Setting, count: number): Promise<Figure[]> {
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
    [name, 'loading', loading],
    [name, 'scrolling through all of them', scrolling],
    [name, `following ${followed} further steps`, following],
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
