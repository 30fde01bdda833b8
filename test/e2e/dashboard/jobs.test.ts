import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  checkLooks,
  seriousProblems,
  startJob,
  takeScreenshot,
  untilStatus,
  visitDashboard,
} from '../../support/browser/dashboard.ts';
import { insertActiveJob, insertSteps } from '../../support/database/many-jobs.ts';
import { focusRow } from '../../support/browser/keyboard.ts';
import { chromiumPath, startForFile } from '../../support/browser/dashboard-of-file.ts';

const shared = startForFile();

async function downloaded(page: Page, name: string): Promise<Buffer> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()]);
  return readFile(await download.path());
}

const stepOf = (page: Page, step: number) => page.getByRole('article', { name: `Step ${step}`, exact: true });

describe.runIf(chromiumPath !== null)('the job page', () => {
  it('cancels, explains, continues, forks and archives a job, and offers its patch and bundle', async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await stack.pause('worker');
    let id: string;
    try {
      id = await startJob(page, 'Create steered.md with "first"');
      await page.locator('.actions', { hasText: 'Download patch' }).locator('a, button').first().click();
      expect(await seriousProblems(page)).toEqual([]);
      await page.getByRole('button', { name: 'Cancel the job' }).click();
      await untilStatus(page, 'cancelled');
    } finally {
      await stack.resume('worker');
    }
    await page.locator('.result').getByRole('heading', { name: 'The job was cancelled' }).waitFor();
    // the name of the key that it signs in with
    await page.locator('.result').getByText('By npm start').waitFor();
    await page.locator('.facts').getByText('by npm start').waitFor();
    await page.locator('.turn-head', { hasText: /cancelled\s*by npm start/ }).waitFor();
    await page.getByRole('link', { name: 'Retry' }).click();
    await page.waitForURL(/\/new$/);
    expect(await page.getByLabel('What should change?').inputValue()).toBe('Create steered.md with "first"');
    await page.goBack();
    await page.locator('.result').getByRole('button', { name: 'Retry', exact: true }).click();
    await page.waitForURL((url) => url.pathname.includes('/job_') && !url.pathname.includes(id));
    await untilStatus(page, 'completed');
    await page.locator('.result .markdown').getByText('steered.md').first().waitFor();
    await page.goBack();
    // the address changes before the page, and both jobs have a field for a message
    await page.locator('.result').getByRole('heading', { name: 'The job was cancelled' }).waitFor();
    expect(await page.getByRole('button', { name: 'Cancel' }).count()).toBe(0);

    await page.getByLabel('Request a change').fill('Create further.md with "second"');
    await page.getByLabel('Request a change').press('Control+Enter');
    await page.getByRole('region', { name: 'Turn 2' }).waitFor();
    await untilStatus(page, 'completed');
    const patch = (await downloaded(page, 'Download patch')).toString();
    expect(patch).toContain('diff --git a/further.md b/further.md\n');
    expect(patch).toContain('+second');
    expect(gunzipSync(await downloaded(page, 'Export bundle')).toString()).toContain(id);

    const link = await page.getByRole('link', { name: 'Open in Temporal' }).getAttribute('href');
    expect(link).toBe(
      `${stack.localJson.temporalUiUrl}/namespaces/default/workflows/${encodeURIComponent(`agent-job/${id}/turn-2`)}`,
    );
    expect((await fetch(link ?? '')).status).toBe(200);

    await page.getByRole('button', { name: 'Fork from step 1' }).click();
    expect(await seriousProblems(page)).toEqual([]);
    await page.getByLabel('Instructions').fill('Create forked.md with "third"');
    await page.getByRole('button', { name: 'Fork the job' }).click();
    await page.waitForURL((url) => url.pathname.includes('/job_') && !url.pathname.includes(id));
    await untilStatus(page, 'completed');
    await page.getByRole('link', { name: 'step 1 of another job' }).click();
    // the fork, whose page is shown until then, has none
    await page.getByRole('region', { name: 'Turn 2' }).waitFor();

    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByText('An archived job accepts no messages.').waitFor();
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
    await page.locator('.toast').getByText('The job is no longer archived.').waitFor();
    await untilStatus(page, 'completed');
    await page.locator('.toast').getByRole('button', { name: 'Dismiss' }).click();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByText('An archived job accepts no messages.').waitFor();
    await expect.poll(() => page.locator('.page-head .badge').innerText()).toContain('archived');
    await expect.poll(() => page.getByLabel('Request a change').count()).toBe(0);
    await page.getByRole('link', { name: 'View pull request' }).click();
    await page.getByRole('button', { name: 'Merge' }).waitFor();

    await page.goBack();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog', { name: 'Delete this job?' }).waitFor();
    await checkLooks(page, 'job-delete-light');
    await page.getByRole('button', { name: 'Delete the job' }).click();
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
    await page.goto(`${stack.localJson.baseUrl}/jobs/${stack.localJson.projectId}/${id}`);
    await page.getByText('The job could not be loaded').waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shows after each step what that step changed, and no button if it changed nothing', async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await startJob(page, 'Create notes.md with "one\\n". Append "two\\n" to notes.md. Rename notes.md to log.md');
    await untilStatus(page, 'completed');
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('1 file changed +2 −0').waitFor();
    await expect.poll(() => result.innerText()).toMatch(/PR #\d+\s+●\s+open/);
    await expect.poll(() => page.locator('.turn-head').innerText()).toMatch(/PR #\d+/);
    const show = (step: number) => stepOf(page, step).getByRole('button', { name: 'Show what this step changed' });
    const changedSteps = () =>
      page
        .locator('.step', { hasText: 'Show what this step changed' })
        .evaluateAll((steps) => steps.map(({ id }) => Number(id.split('-').at(-1))));
    await expect.poll(changedSteps).toHaveLength(3);
    const [, second = 0, third = 0] = await changedSteps();
    await show(second).click();
    const file = stepOf(page, second).getByRole('region', { name: 'notes.md' });
    await file.getByText('two').waitFor();
    await expect.poll(() => file.locator('.diff-code-insert').allInnerTexts()).toEqual(['two']);
    await expect.poll(() => file.locator('.badge').first().innerText()).toBe('changed');
    await stack.killAndWait('api');
    await page.reload();
    await show(third).click();
    await stepOf(page, third).getByText('renamed', { exact: true }).waitFor();
    await stepOf(page, third).getByText('Renamed without changes.').waitFor();
    expect(visit.complaints).toEqual([]);
  });

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

  it('resumes where it was after the API restarts', async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await stack.pause('worker');
    try {
      await startJob(page, 'Create restarted.md with "x"');
      await page.locator('.live-live').waitFor();
      await stack.killAndWait('api');
      await page.locator('.live-live').waitFor();
    } finally {
      await stack.resume('worker');
    }
    await untilStatus(page, 'completed');
    await stepOf(page, 1).waitFor();
    expect(visit.complaints).toEqual([]);
  });

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
    // the address changes before the list, of whose old rows none would keep the focus
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
