import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  seriousProblems,
  startJob,
  takeScreenshot,
  untilStatus,
  visitDashboard,
} from '../../support/browser/dashboard.ts';
import { insertActiveJob, insertSteps } from '../../support/database/many-jobs.ts';
import { focusRow } from '../../support/browser/keyboard.ts';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStack();

const stepOf = (page: Page, step: number) => page.getByRole('article', { name: `Step ${step}`, exact: true });

describe.runIf(chromiumPath !== null)('the job page', () => {
  it('marks no side without a line by a red bar, as the library of the diffs does', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await startJob(page, 'Append "more\\n" to README.md');
    await untilStatus(page, 'completed');
    await page.getByRole('tab', { name: 'Changes' }).click();
    const gutter = page.locator('.diff-gutter-omit').first();
    await gutter.waitFor({ state: 'attached' });
    const color = await gutter.evaluate((cell) => getComputedStyle(cell, '::before').backgroundColor);
    expect(color).toBe('rgba(0, 0, 0, 0)');
  });

  it(
    'sends a message on the first press of the button, also when the focus is elsewhere',
    { tags: 'slow' },
    async () => {
      await using visit = await visitDashboard(shared.browser, shared.stack);
      const { page } = visit;
      await startJob(page, 'Append "once\\n" to README.md');
      await untilStatus(page, 'completed');
      await page.getByLabel('Request a change').fill('Append "twice\\n" to README.md');
      await page.reload();
      await page.getByRole('article', { name: 'Step 1', exact: true }).waitFor();
      const { x, y, width, height } = (await page.getByRole('button', { name: 'Send' }).boundingBox())!;
      await page.mouse.move(x + width / 2, y + height / 2);
      await page.mouse.down();
      await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted))));
      await page.mouse.up();
      await page.getByRole('heading', { name: 'Turn 2' }).waitFor();
      expect(visit.complaints).toEqual([]);
    },
  );

  it('renders only the visible ones of 2,000 steps, jumps to any of them, and follows new ones', async () => {
    const { browser, stack, pool } = shared;
    const { projectId, baseUrl } = stack.localJson;
    const id = await insertActiveJob(pool, projectId, 'job_of2000steps');
    await insertSteps(pool, id, { from: 1, to: 2_000 });
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await page.goto(`${baseUrl}/jobs/${projectId}/${id}`);
    await stepOf(page, 1).waitFor();
    expect(await page.locator('.step').count()).toBeLessThan(60);
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByRole('link', { name: /^Turn 1: / }).focus();
    expect(await page.locator('.waterfall-row').count()).toBeLessThan(60);
    expect(await page.locator('.waterfall-bar').count()).toBeLessThan(900);
    await page.keyboard.press('End');
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await expect.poll(focused).toMatch(/^Step 2000: /);
    await page.keyboard.press('Enter');
    await page.waitForURL(/#step-1-2000$/);
    await untilInSight(page, 2_000);

    await page.getByLabel('Go to step').fill('1234');
    await page.getByLabel('Go to step').press('Enter');
    await page.waitForURL(/#step-1-1234$/);
    await untilInSight(page, 1_234);
    expect(await page.locator('.step').count()).toBeLessThan(60);
    await stepOf(page, 1_234).locator('.tool').first().locator('summary').click();
    await stepOf(page, 1_234).getByRole('heading', { name: 'Arguments' }).waitFor();
    await page.getByRole('button', { name: 'First', exact: true }).click();
    await untilInSight(page, 1);
    await expect.poll(() => stepOf(page, 1_234).count()).toBe(0);
    await page.goto(`${baseUrl}/jobs`);
    await page.goto(`${baseUrl}/jobs/${projectId}/${id}#step-1-777`);
    await untilInSight(page, 777);
    await page.getByLabel('Go to step').fill('5000');
    await page.getByRole('button', { name: 'Go', exact: true }).click();
    await page.getByText('No such step.').waitFor();
    expect(await seriousProblems(page)).toEqual([]);

    await page.getByRole('button', { name: 'Follow' }).click();
    for (const step of [2_001, 2_002, 2_003]) {
      await insertSteps(pool, id, { from: step, to: step });
      await untilInSight(page, step);
    }
    await page.mouse.wheel(0, -2_000);
    await page.getByRole('button', { name: 'Follow', pressed: false }).waitFor();
    await takeScreenshot(page, 'long-job');
    expect(visit.complaints).toEqual([]);
    await pool.query(`update jobs set status = 'failed', phase = null, ended_at = now() where id = $1`, [id]);
  });
});

async function untilInSight(page: Page, step: number): Promise<void> {
  const isInSight = async () => {
    const box = await stepOf(page, step)
      .boundingBox({ timeout: 1_000 })
      .catch(() => null);
    return box !== null && box.y >= 0 && box.y < 860;
  };
  await expect.poll(isInSight).toBe(true);
}

describe.runIf(chromiumPath !== null)('the list and the forms of jobs', () => {
  it('shows the grammar of the offline model, refuses an empty prompt, and starts a draft from a branch', async () => {
    const { browser, stack, pool } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await page.keyboard.press('c');
    await page.waitForURL(/\/new$/);
    await page.getByText('No model is configured').waitFor();
    expect(await page.locator('.grammar dt').count()).toBeGreaterThan(4);
    await page.getByRole('button', { name: 'Start job' }).click();
    expect(new URL(page.url()).pathname).toBe('/new');
    await page.getByRole('button', { name: 'Use “Create PATH with "text"”' }).click();
    expect(await page.getByLabel('What should change?').inputValue()).toBe('Create PATH with "text"');
    await page.getByLabel('What should change?').fill('Create drafted.md with "x"');
    await page.getByLabel('Branch, tag or commit').fill('main');
    await page.getByText('Open the pull request as a draft').click();
    await page.getByRole('button', { name: 'Start job' }).click();
    await page.waitForURL(/\/jobs\/prj_\w+\/job_\w+/);
    await untilStatus(page, 'completed');
    const id = /job_\w+/.exec(page.url())![0];
    const { rows } = await pool.query('select draft, requested_ref from jobs where id = $1', [id]);
    expect(rows).toEqual([{ draft: true, requested_ref: 'main' }]);
  });

  it('can be used with the keyboard alone: j, k, Enter, / and ?', async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await page.locator('.row').nth(1).waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '');
    await focusRow(page);
    const first = await focused();
    await page.keyboard.press('j');
    expect(await focused()).not.toBe(first);
    await page.keyboard.press('k');
    expect(await focused()).toBe(first);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.keyboard.type('drafted');
    expect(await page.getByLabel('Search jobs').inputValue()).toBe('drafted');
    await page.waitForURL(/q=drafted/);
    await page.keyboard.press('Tab');
    // the address changes before the list, and its old rows would lose the focus
    await expect.poll(() => page.locator('.rows .row').allInnerTexts()).toEqual([expect.stringContaining('drafted')]);
    await focusRow(page);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/job_/);
    await page.goBack();
    await page.waitForURL(/q=drafted/);
    expect(visit.complaints).toEqual([]);
  });

  it('remembers the chosen theme', async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await background();
    await page.getByLabel('Theme').selectOption('dark');
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.getByLabel('Theme').waitFor();
    expect([await background(), await page.getByLabel('Theme').inputValue()]).toEqual([dark, 'dark']);
  });
});
