import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import {
  seriousProblems,
  startJob,
  takeScreenshot,
  untilStatus,
  visitDashboard,
} from '../../support/browser/dashboard.ts';
import { wakeWatchers } from '../../../db/jobs/wake-watchers.ts';
import { insertEndedJobs } from '../../support/database/many-jobs.ts';
import { focusRow } from '../../support/browser/keyboard.ts';
import { chromiumPath, dashboardStack, type DashboardOfFile } from '../../support/browser/dashboard-of-file.ts';
import { patienceMs } from '../../support/patience.ts';

const shared = dashboardStack() as DashboardOfFile & { pages: Record<string, string> };

/** A stack with a job that changed something, one that failed, and readers' questions. */
beforeAll(async () => {
  if (chromiumPath === null) return;
  await using visit = await visitDashboard(shared.browser, shared.stack);
  const { page } = visit;
  await startJob(page, 'Replace "colour" with "color" everywhere. Create docs/guides/new.md with "# New"');
  await untilStatus(page, 'completed');
  const job = new URL(page.url()).pathname;
  const pull = await page.getByRole('link', { name: 'View' }).getAttribute('href');
  await startJob(page, 'Create partial.md with "x". Paint the lamp green.');
  await untilStatus(page, 'completed');
  await page.getByRole('link', { name: 'New job' }).click();
  await page.getByLabel('What should change?').fill('Delete README.md');
  await page.getByLabel('Branch, tag or commit').fill('no-such-branch');
  await page.getByRole('button', { name: 'Start job' }).click();
  await untilStatus(page, 'failed');
  const failed = new URL(page.url()).pathname;
  for (const question of ['How do I run a scene?', 'Is there a mobile app for Android?']) await ask(question);
  shared.pages = {
    jobs: '/jobs',
    'new-job': '/new',
    job,
    'failed-job': failed,
    'pull-request': pull ?? '',
    'pull-requests': '/pulls',
    playground: '/playground',
    conversations: '/conversations',
    gaps: '/gaps',
    analytics: '/analytics',
    evaluations: '/evaluations',
    operations: '/operations',
    compare: `/compare?left=${nameOf(job)}&right=${nameOf(failed)}`,
    keys: '/settings/keys',
    projects: '/settings/projects',
    sites: '/settings/sites',
    webhooks: '/settings/webhooks',
    log: '/settings/audit',
    design: '/design',
  };
});

/** Returns a job as the address of a comparison names it. */
function nameOf(path: string): string {
  return encodeURIComponent(path.replace('/jobs/', ''));
}

async function ask(question: string): Promise<void> {
  const { baseUrl, domain, assistantKey } = shared.stack.localJson;
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

async function show(page: Page, path: string): Promise<void> {
  await page.goto(shared.stack.localJson.baseUrl + path);
  await page.locator('main h1').waitFor();
  // the page of all components also shows the loading component
  await expect.poll(() => page.locator('.loading:not(.design-part *)').count()).toBe(0);
}

describe.runIf(chromiumPath !== null)('every page of the dashboard', () => {
  it.each(['light', 'dark'] as const)('has no serious accessibility violation, %s', async (colorScheme) => {
    await using visit = await visitDashboard(shared.browser, shared.stack, { colorScheme });
    const { page } = visit;
    for (const [name, path] of Object.entries(shared.pages)) {
      await show(page, path);
      if (name === 'playground') {
        await page.getByRole('textbox', { name: 'Question' }).fill('How do I run a scene?');
        await page.getByRole('button', { name: 'Ask', exact: true }).click();
        await page.getByText('Did this answer help?').waitFor();
      }
      expect([name, await seriousProblems(page)]).toEqual([name, []]);
      await takeScreenshot(page, `${name}-${colorScheme}`);
      if (name !== 'job') continue;
      await page.getByRole('tab', { name: 'Changes' }).click();
      await page.locator('.diff').first().waitFor();
      expect(['changes', await seriousProblems(page)]).toEqual(['changes', []]);
      await takeScreenshot(page, `changes-${colorScheme}`);
    }
    expect(visit.complaints).toEqual([]);
  });

  it.each(['light', 'dark'] as const)(
    'has no serious accessibility violation in a dialog, %s',
    { tags: 'slow' },
    async (colorScheme) => {
      await using visit = await visitDashboard(shared.browser, shared.stack, { colorScheme });
      const { page } = visit;
      const dialogs: [page: string, button: RegExp][] = [
        ['jobs', /^Commands/],
        ['jobs', /^Shortcuts/],
        ['job', /^Compare with/],
        ['job', /^Delete$/],
        ['job', /^Fork from step 1/],
        ['job', /^Inspect step 1/],
        ['pull-request', /^Merge$/],
        ['pull-request', /^Close$/],
        ['keys', /^Revoke/],
      ];
      for (const [name, button] of dialogs) {
        await show(page, shared.pages[name] ?? '');
        await page.getByRole('button', { name: button }).first().click();
        await page.locator('[role=dialog], [role=alertdialog], aside').first().waitFor();
        expect([name, button, await seriousProblems(page)]).toEqual([name, button, []]);
      }
      expect(visit.complaints).toEqual([]);
    },
  );

  it('fits a phone 400 pixels wide, with buttons that a finger can press', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack, { width: 400, hasTouch: true });
    const { page } = visit;
    for (const [name, path] of Object.entries(shared.pages)) {
      await show(page, path);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect([name, overflow]).toEqual([name, 0]);
      const scrolled = await page
        .locator('.table-scroll')
        .evaluateAll((tables) => tables.filter((table) => table.scrollWidth > table.clientWidth).length);
      expect([name, scrolled]).toEqual([name, 0]);
      const small = await page
        .locator('main .button, main .segment, main .tab')
        .evaluateAll((buttons) =>
          buttons
            .filter((button) => button.checkVisibility() && button.getBoundingClientRect().height < 44)
            .map((button) => button.outerHTML),
        );
      expect([name, small]).toEqual([name, []]);
      await takeScreenshot(page, `${name}-narrow`);
    }
  });

  it('can be reached and left with the keyboard alone', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await page.locator('.row').first().waitFor();
    await focusRow(page);
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/job_/);
    await page.getByRole('tab', { name: 'Conversation' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: 'Changes', selected: true }).waitFor();
  });
});

/** A click is lost while the content above is still growing. */
async function unfold(details: Locator): Promise<void> {
  await vi.waitFor(
    async () => {
      if ((await details.getAttribute('open')) === null) await details.locator('summary').click();
      expect(await details.getAttribute('open')).not.toBeNull();
    },
    { timeout: patienceMs, interval: 300 },
  );
}

const attack = '<script>window.pwned=1</script><img src=x onerror="window.pwned=1">\u202Ereversed \u001B[31mred\u0007';

describe.runIf(chromiumPath !== null)('hostile text', () => {
  it('is shown as text and does nothing, in prompts, answers, results, names and diffs', async () => {
    const { browser, stack, pool } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    const id = await startJob(page, `Create hostile.md with "x". ${attack}`);
    await untilStatus(page, 'completed');
    const line = 'x'.repeat(1_000_000);
    const patch = `diff --git a/${attack}.md b/${attack}.md\n--- a/${attack}.md\n+++ b/${attack}.md\n@@ -1 +1 @@\n-${attack}\n+${line}${attack}\n`;
    const markdown = `${attack} [a link](javascript:window.pwned=1) ![an image](https://evil.example/x.png)`;
    await pool.query('update jobs set title = $2, message = $3 where id = $1', [id, attack, markdown]);
    await pool.query('update job_snapshots set patch = $2 where job_id = $1', [id, patch]);
    await pool.query(
      `update job_steps set response = jsonb_set(response, '{text}', $2::jsonb),
              tool_results = (select jsonb_agg(jsonb_set(result, '{output}', $3::jsonb)) from jsonb_array_elements(tool_results) as result)
       where job_id = $1`,
      [id, JSON.stringify(markdown), JSON.stringify(attack + line)],
    );
    wakeWatchers(pool, id);
    await page.reload();
    await page.getByRole('heading', { name: 'Step 1' }).waitFor();
    await unfold(page.locator('.tool').first());
    await page.getByRole('button', { name: /^Show all/ }).click();
    await page.getByText('more characters not shown').first().waitFor();
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.locator('.diff-path').first().waitFor();
    expect(await page.locator('.diff-path').first().innerText()).toContain('<script>');
    expect(await page.locator('.diff-path').first().innerText()).toContain('⟨U+202E⟩');
    await takeScreenshot(page, 'hostile');
    await page.getByRole('tab', { name: 'Conversation' }).click();
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    await page.getByRole('link', { name: 'View' }).click();
    await page.getByRole('button', { name: 'Ready for review' }).waitFor();
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.locator('.row', { hasText: '<script>' }).waitFor();
    expect(await page.evaluate(() => 'pwned' in window)).toBe(false);
    expect(visit.complaints).toEqual([]);
  });
});

describe.runIf(chromiumPath !== null)('the operations page', () => {
  it('shows what keys and projects have used next to their limits', async () => {
    const { browser, stack, pool } = shared;
    const { baseUrl, domain, adminKey, projectId } = stack.localJson;
    const made = await fetch(`${baseUrl}/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ kind: 'assistant', name: 'of one request' }),
    });
    const { key } = (await made.json()) as { key: string };
    const answer = await fetch(`${baseUrl}/discovery/v1/search/${domain}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'scene' }),
    });
    expect(answer.status).toBe(200);
    await pool.query('update projects set daily_budget_micros = 5000000 where id = $1', [projectId]);
    await pool.query(
      `insert into project_spending (project_id, day, cost_micros)
       select $1, (now() at time zone 'utc')::date - number, 400000 * (10 - number) from generate_series(0, 9) as number
       on conflict (project_id, day) do update set cost_micros = excluded.cost_micros`,
      [projectId],
    );
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    const counted = page.locator('.plot', { hasText: 'Reader requests per day, by key' });
    await expect
      .poll(
        async () => {
          await page.goto(`${baseUrl}/operations`);
          await counted.waitFor();
          const names = await counted.locator('thead th').allTextContents();
          const today = await counted.locator('tbody tr').last().locator('td').allTextContents();
          return today[names.indexOf('of one request')];
        },
        { interval: 2_000 },
      )
      .toBe('1');
    await page.getByText('limit: 10,000 per hour, all keys together').waitFor();
    await page.getByText('budget: $5.00 per day').waitFor();
    const cost = page.locator('.plot', { hasText: 'budget: $5.00 per day' });
    await cost.getByRole('slider').press('End');
    await cost.locator('.plot-values').getByText('$4.00').waitFor();
    await cost.getByRole('slider').press('ArrowLeft');
    await cost.locator('.plot-values').getByText('$3.60').waitFor();
    await page.getByRole('button', { name: '90 days' }).click();
    await expect.poll(() => counted.locator('tbody tr').count()).toBe(90);
    expect(await seriousProblems(page)).toEqual([]);
    await counted.scrollIntoViewIfNeeded();
    await takeScreenshot(page, 'usage');
    expect(visit.complaints).toEqual([]);
  });
});

describe.runIf(chromiumPath !== null)('a list of 10,000 jobs', () => {
  it('renders no more rows than are visible', async () => {
    const { browser, stack, pool } = shared;
    const { projectId } = stack.localJson;
    await insertEndedJobs(pool, projectId, 10_000, 'job_of_looks');
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    const last = page.getByText('Job number 10000', { exact: true });
    for (let scrolls = 0; scrolls < 600 && (await last.count()) === 0; scrolls += 1) {
      await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 30))));
      expect(await page.locator('.row').count()).toBeLessThan(80);
    }
    await last.waitFor();
  });
});
