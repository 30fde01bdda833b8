import { describe, expect, it } from 'vitest';
import { seriousProblems, startJob, untilStatus, visitDashboard } from '../../support/browser/dashboard.ts';
import { insertActiveJob, insertEndedJobs } from '../../support/database/many-jobs.ts';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStack();

describe.runIf(chromiumPath !== null)('the job list', () => {
  it('shows how long jobs have been queued and running, with one timer for all', async () => {
    const { browser, stack, pool } = shared;
    const { projectId, baseUrl } = stack.localJson;
    const ids = ['job_running', 'job_queued'];
    for (const id of ids) await insertActiveJob(pool, projectId, id);
    await pool.query(`update job_turns set created_at = now() - interval '1 hour' where job_id = 'job_running'`);
    await pool.query(`update jobs set phase = 'queued' where id = 'job_queued'`);
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await page.addInitScript(() => {
      const timers = new Set<unknown>();
      const everySecond = 1_000;
      const { setInterval: set, clearInterval: clear } = globalThis;
      Object.assign(globalThis, {
        timers,
        setInterval: (...given: Parameters<typeof set>) => {
          const timer = set(...given);
          if (given[1] === everySecond) timers.add(timer);
          return timer;
        },
        clearInterval: (timer: Parameters<typeof clear>[0]) => {
          timers.delete(timer);
          clear(timer);
        },
      });
    });
    await page.goto(`${baseUrl}/jobs`);
    const cell = (id: string) => page.locator(`[data-job='${id}'] .row-elapsed`);
    await expect.poll(() => cell('job_running').innerText()).toMatch(/^running for\s+1 h 0\d min$/);
    const queued = () => cell('job_queued').innerText();
    await expect.poll(queued).toMatch(/^queued for\s+\d+ s$/);
    const before = await queued();
    await expect.poll(queued).not.toBe(before);
    expect(await page.evaluate(() => (globalThis as unknown as { timers: Set<unknown> }).timers.size)).toBe(1);
    await page.setViewportSize({ width: 390, height: 844 });
    await cell('job_running').waitFor();
    expect(visit.complaints).toEqual([]);
    await pool.query(`update jobs set status = 'failed', phase = null, ended_at = now() where id = any ($1)`, [ids]);
  });

  it('cuts off the end of a title, also of one that is written from right to left', async () => {
    const { browser, stack, pool } = shared;
    const { projectId, baseUrl } = stack.localJson;
    const title = 'اشرح كيف يعيد المصباح الاتصال بالشبكة بعد انقطاع التيار الكهربائي في المنزل كله';
    await insertEndedJobs(pool, projectId, 1, 'job_arabic');
    await pool.query(`update jobs set title = $1 where id like 'job_arabic%'`, [title]);
    await using visit = await visitDashboard(browser, stack, { width: 390 });
    const { page } = visit;
    await page.goto(`${baseUrl}/jobs`);
    const isBeginningVisible = await page.getByRole('link', { name: title }).evaluate((link) => {
      const first = document.createRange();
      first.setStart(link.firstChild!, 0);
      first.setEnd(link.firstChild!, 1);
      const [letter, box] = [first.getBoundingClientRect(), link.getBoundingClientRect()];
      return link.scrollWidth > link.clientWidth && letter.left >= box.left && letter.right <= box.right + 1;
    });
    expect(isBeginningVisible).toBe(true);
  });

  it('can be filtered by a failure that no loaded job has, also of archived jobs', async () => {
    const { browser, stack, pool } = shared;
    const { projectId, baseUrl } = stack.localJson;
    await insertEndedJobs(pool, projectId, 102, 'job_ended');
    const failed = ['job_ended101', 'job_ended102'];
    await pool.query(`update jobs set status = 'failed', failure_category = 'step_limit' where id = any ($1)`, [
      failed,
    ]);
    await pool.query(`update jobs set status = 'archived', archived_at = now() where id = $1`, [failed[1]]);
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await page.goto(`${baseUrl}/jobs`);
    await page.locator("[data-job='job_ended1']").waitFor();
    await page.getByLabel('Failure').selectOption('The job ran out of steps (2)');
    await page.waitForURL(/failure=step_limit/);
    for (const id of failed) await page.locator(`[data-job='${id}']`).waitFor();
    await page.getByRole('button', { name: 'archived' }).click();
    await page.locator(`[data-job='${failed[0]}']`).waitFor({ state: 'detached' });
    await page.locator(`[data-job='${failed[1]}']`).waitFor();
    await page.locator('option:checked', { hasText: 'The job ran out of steps (1)' }).waitFor({ state: 'attached' });
    await page.getByLabel('Search jobs').fill('Job number');
    await page.waitForURL(/q=Job/);
    await page.locator('option:checked', { hasText: /^The job ran out of steps$/ }).waitFor({ state: 'attached' });
    expect(visit.complaints).toEqual([]);
  });

  it('shows what changes while it is being fetched, and while other filters are chosen', async () => {
    const { browser, stack, pool } = shared;
    const { projectId, baseUrl } = stack.localJson;
    await insertEndedJobs(pool, projectId, 1, 'job_renamed');
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    const fetched = Promise.withResolvers<void>();
    const changed = Promise.withResolvers<void>();
    await page.route(/\/v1\/jobs\?/, async (route) => {
      const response = await route.fetch();
      fetched.resolve();
      await changed.promise;
      await route.fulfill({ response });
    });
    /** Renames the job, and resolves when the page has received the change and has counted the jobs again. */
    const rename = async (title: string) => {
      const counted = page.waitForRequest(/\/v1\/jobs\/counts/);
      await pool.query(`update jobs set title = $1, updated_at = now() where id = 'job_renamed1'`, [title]);
      await counted;
    };
    const row = page.locator("[data-job='job_renamed1']");
    await page.goto(`${baseUrl}/jobs`);
    await page.locator('.live-live').waitFor();
    await fetched.promise;
    await rename('While the list was fetched');
    changed.resolve();
    await row.getByText('While the list was fetched').waitFor();
    await page.getByRole('button', { name: /^failed/ }).click();
    await row.waitFor({ state: 'detached' });
    await rename('While others were shown');
    await page.getByRole('button', { name: /^all/ }).click();
    await row.getByText('While others were shown').waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shows the number, the state and the size of what a job published', { tags: 'slow' }, async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    const id = await startJob(page, 'Create counted.md with "one\n\ntwo"');
    await untilStatus(page, 'completed');
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    const row = page.locator(`[data-job='${id}']`);
    await row.getByText('+3 −0').waitFor();
    const pull = row.getByRole('link', { name: /^Pull request of Create counted\.md.*: #\d+ open$/ });
    const number = /#\d+/.exec(await pull.innerText())![0];
    await page.setViewportSize({ width: 390, height: 844 });
    await pull.click();
    await page.getByRole('heading', { level: 1 }).getByText(number, { exact: true }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it(
    'opens the form to retry the job in focus by R, and asks before it retries several',
    { tags: 'slow' },
    async () => {
      const { browser, stack, pool } = shared;
      const ids = ['job_again1', 'job_again2'];
      for (const id of ids) await insertActiveJob(pool, stack.localJson.projectId, id);
      await pool.query(
        `update jobs set status = 'failed', phase = null, ended_at = now(), failure_category = 'internal' where id = any ($1)`,
        [ids],
      );
      await using visit = await visitDashboard(browser, stack);
      const { page } = visit;
      const row = (id: string) => page.locator(`[data-job='${id}']`);
      let created = 0;
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('/job')) created += 1;
      });
      await page.goto(`${stack.localJson.baseUrl}/jobs?status=failed`);
      await row('job_again1').locator('.row-title').focus();
      await page.keyboard.press('r');
      await page.waitForURL(/\/new$/);
      await expect.poll(() => page.getByLabel('What should change?').inputValue()).toBe('Do very much.');
      await page.goBack();
      for (const id of ids) await row(id).getByRole('checkbox').check();
      await page.getByRole('button', { name: 'Retry 2' }).waitFor();
      await page.keyboard.press('r');
      const question = page.getByRole('alertdialog', { name: 'Retry 2 jobs?' });
      await question.waitFor();
      expect(await seriousProblems(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await question.waitFor({ state: 'detached' });
      expect(created).toBe(0);
      await page.keyboard.press('r');
      await question.getByRole('button', { name: 'Retry the jobs' }).click();
      await page.getByText('2 jobs retried.').waitFor();
      expect(created).toBe(2);
      expect(visit.complaints).toEqual([]);
    },
  );
});
