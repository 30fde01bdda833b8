import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  checkLooks,
  mergePull,
  seriousProblems,
  startJob,
  untilStatus,
  visitDashboard,
} from '../../support/browser/dashboard.ts';
import { runTestGit } from '../../support/git-repository.ts';
import { patienceMs } from '../../support/patience.ts';
import { chromiumPath, ownDashboardStack } from '../../support/browser/dashboard-of-file.ts';

const shared = ownDashboardStack();

async function downloaded(page: Page, name: string): Promise<Buffer> {
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()]);
  return readFile(await download.path());
}

const stepOf = (page: Page, step: number) => page.getByRole('article', { name: `Step ${step}`, exact: true });

describe.runIf(chromiumPath !== null)('the dashboard of npm start', () => {
  it('is entered once by the printed link; the second time, the page says how to get another link', async () => {
    const link = /http\S+#link=\S+/.exec(shared.stack.output())?.[0] ?? '';
    for (const isFirst of [true, false]) {
      await using resources = new AsyncDisposableStack();
      const context = await shared.browser.newContext({ colorScheme: 'dark' });
      context.setDefaultTimeout(patienceMs);
      resources.defer(() => context.close());
      const page = await context.newPage();
      await page.goto(link);
      if (isFirst) {
        await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
        expect(page.url()).not.toContain('link=');
        expect(await context.cookies()).toMatchObject([{ httpOnly: true, sameSite: 'Strict' }]);
        continue;
      }
      await page.getByText('This sign-in link does not work.').waitFor();
      await page.getByText('npm run docket -- sign-in').waitFor();
      expect(page.url()).not.toContain('link=');
      await checkLooks(page, 'link-used-dark');
    }
  });

  it('cancels, explains, continues, forks and archives a job, and offers its patch and bundle', async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await stack.pause('worker');
    let id: string;
    try {
      id = await startJob(page, 'Create steered.md with "first"');
      await page.locator('.actions', { hasText: 'Export bundle' }).locator('a, button').first().click();
      // it would be empty
      expect(await page.getByText('Download patch').count()).toBe(0);
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
    // the page of the fork, which is shown until then, has none
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

  it('follows a job from its creation to its merge, on its page and in the list, while the worker is killed', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await using watching = await visitDashboard(shared.browser, shared.stack);
    const prompt = 'Replace "colour" with "color" everywhere. Create CHANGES.md with "Spelling."';
    const id = await startJob(page, prompt);
    await shared.stack.killAndWait('worker');
    await untilStatus(page, 'completed');
    await page.getByRole('heading', { name: 'Step 1' }).waitFor();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByRole('link', { name: /^Step 1: / }).hover();
    await timeline.locator('.waterfall-values', { hasText: 'Step 1: ' }).waitFor();
    // the other window has not been touched since before the job was created
    await watching.page.locator('.row', { hasText: 'Replace "colour"' }).getByText('completed').waitFor();

    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.getByRole('region', { name: 'CHANGES.md' }).waitFor();
    await page.getByRole('tab', { name: 'Conversation' }).click();
    await page.getByLabel('Request a change').fill('Append "More." to CHANGES.md');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('region', { name: 'Turn 2' }).waitFor();
    await untilStatus(page, 'completed');

    await page.getByRole('link', { name: 'View' }).click();
    await page.waitForURL(/\/pulls\/pr_\w+/);
    await page.locator('.commits li').nth(1).waitFor();
    expect(await page.locator('.commits li').count()).toBe(2);
    await mergePull(page);
    await page.getByText('Merged into main').and(page.getByText('by npm start.')).waitFor();
    const repository = `${shared.stack.home}/repositories/lamp.git`;
    expect(await runTestGit(['--git-dir', repository, 'show', 'main:CHANGES.md'], { cwd: shared.stack.home })).toBe(
      'Spelling.\nMore.',
    );
    await page.getByRole('link', { name: 'this job' }).click();
    await page.locator('.result').getByText('merged').waitFor();
    expect(page.url()).toContain(id);
    expect([...visit.complaints, ...watching.complaints]).toEqual([]);
  });

  it('continues after the API restarts', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await page.locator('.live-live').waitFor();
    await shared.stack.killAndWait('api');
    await page.locator('.live-live').waitFor();
    await page.locator('.offline-bar').waitFor({ state: 'detached' });
    const { baseUrl, projectId, adminKey } = shared.stack.localJson;
    const made = await fetch(`${baseUrl}/v2/agent/${projectId}/job`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: 'Create after.md with "restart"' }),
    });
    expect(made.status).toBe(201);
    await page.locator('.row', { hasText: 'after.md' }).getByText('completed').waitFor();
  });

  it('says when no worker is running, and which questions count as gaps', async () => {
    const { browser, stack, pool } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await page.getByRole('link', { name: 'Gaps' }).click();
    await page.getByText('A question in the playground counts if you select').waitFor();
    await stack.pause('worker');
    try {
      await pool.query(`update workers set seen_at = now() - interval '1 minute'`);
      await startJob(page, 'Create waiting.md with "x"');
      await page.getByRole('heading', { name: 'No worker is running' }).waitFor();
      await page.getByRole('link', { name: 'Jobs', exact: true }).click();
      await page.getByText('1 job in the queue. The last worker reported 1 min').waitFor();
      expect(await seriousProblems(page)).toEqual([]);
      await page.getByRole('link', { name: 'Operations No worker is running' }).waitFor();
      await page.getByRole('link', { name: 'Show workers' }).click();
      await page.getByRole('group', { name: 'Workers' }).getByText('not reporting').first().waitFor();
      expect(await seriousProblems(page)).toEqual([]);
      await page.goBack();
    } finally {
      await stack.resume('worker');
    }
    await page.getByRole('heading', { name: 'No worker is running' }).waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });
});
