import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkLooks, startJob, untilStatus, visitDashboard } from '../../support/browser/dashboard.ts';
import { focusRow } from '../../support/browser/keyboard.ts';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStack();
const jobs = {} as { left: string; right: string };

beforeAll(async () => {
  if (chromiumPath === null) return;
  await using visit = await visitDashboard(shared.browser, shared.stack);
  const { page } = visit;
  jobs.left = await startJob(page, 'Create same.md with "same". Create both.md with "one". Create left.md with "l"');
  await untilStatus(page, 'completed');
  jobs.right = await startJob(page, 'Create same.md with "same". Create both.md with "two". Create right.md with "r"');
  await untilStatus(page, 'completed');
});

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });

const sidesOf = (page: Page) =>
  page.evaluate(() => {
    const query = new URL(location.href).searchParams;
    return [query.get('left'), query.get('right')].map((text) => /job_\w+/.exec(text ?? '')?.[0]);
  });

describe.runIf(chromiumPath !== null)('the comparison of two jobs', () => {
  it('shows prompts, facts, steps and files of two jobs selected in the list', async () => {
    const { browser, stack, left, right } = { ...shared, ...jobs };
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await page.locator('.rows .row').nth(1).waitFor();
    await focusRow(page);
    await page.keyboard.press('x');
    await page.getByText('1 job selected').waitFor();
    await expect.poll(() => page.getByRole('link', { name: 'Compare', exact: true }).count()).toBe(0);
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await page.getByRole('heading', { name: 'Compare jobs' }).waitFor();
    expect(await sidesOf(page)).toEqual([left, right]);

    const prompt = page.getByRole('region', { name: 'Prompt of turn 1' });
    await expect.poll(() => prompt.locator('del').allInnerTexts()).toEqual(['one', 'left', 'l']);
    await expect.poll(() => prompt.locator('ins').allInnerTexts()).toEqual(['two', 'right', 'r']);
    await expect
      .poll(() => rowOf(page, 'Status').locator('td').allInnerTexts())
      .toEqual(['completed', 'completed', '']);
    await expect
      .poll(() => rowOf(page, 'Model').locator('td').allInnerTexts())
      .toEqual(['offline/editor', 'offline/editor', '']);
    await expect.poll(() => page.getByRole('link', { name: 'Turn 1, step 1' }).count()).toBe(2);
    const files = page.locator('.compared-file');
    await expect
      .poll(() => files.evaluateAll((all) => all.map((file) => file.textContent.slice(1))))
      .toEqual(['both.mddifferent', 'left.mdonly left', 'right.mdonly right', 'same.mdidentical']);
    await files.filter({ hasText: 'both.md' }).click();
    const inserted = page.locator('.diff-code-insert');
    await inserted.nth(1).waitFor();
    await expect.poll(() => inserted.allInnerTexts()).toEqual(['one', 'two']);
    await checkLooks(page, 'compare-light');

    await page.getByRole('link', { name: 'Swap' }).click();
    await prompt.locator('ins', { hasText: 'one' }).waitFor();
    expect(await sidesOf(page)).toEqual([right, left]);
    expect(visit.complaints).toEqual([]);
  });

  it('is reached from a job with any other one, and from a fork with its origin', async () => {
    const { browser, stack, left, right } = { ...shared, ...jobs };
    await using visit = await visitDashboard(browser, stack, { width: 400, colorScheme: 'dark' });
    const { page } = visit;
    await page.goto(`${stack.localJson.baseUrl}/jobs/${stack.localJson.projectId}/${left}`);
    await page.getByRole('button', { name: 'Compare with…' }).click();
    await page.getByRole('searchbox', { name: 'Search jobs' }).fill(right);
    await page.getByRole('menuitem').first().waitFor();
    await expect.poll(() => page.getByRole('menuitem').count()).toBe(1);
    await page.getByRole('menuitem').click();
    await page.getByRole('heading', { name: 'Compare jobs' }).waitFor();
    expect(await sidesOf(page)).toEqual([left, right]);
    await page.locator('.compared-file').first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
    await checkLooks(page, 'compare-narrow-dark');

    await page.goBack();
    await page.getByRole('button', { name: 'Fork from step 1' }).click();
    await page.getByLabel('Instructions').fill('Create forked.md with "third"');
    await page.getByRole('button', { name: 'Fork the job' }).click();
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await page.getByRole('heading', { name: 'Compare jobs' }).waitFor();
    expect((await sidesOf(page))[0]).toBe(left);
    // for a fork, neither figure includes the copied steps
    const numberOf = (fact: string) => rowOf(page, fact).locator('td').nth(1).innerText();
    await expect.poll(() => numberOf('Status')).toBe('completed');
    const listed = page.getByRole('region', { name: 'Steps, Right' }).getByRole('list').first().locator('> li');
    const steps = Number(await numberOf('Steps'));
    await expect.poll(() => listed.count()).toBe(1 + steps);
    // the steps are read once more after the end
    const own = async () => {
      const calls = await listed.evaluateAll((all) => all.map((step) => step.querySelectorAll('li').length));
      return String(calls.slice(1).reduce((total, number) => total + number, 0));
    };
    await expect.poll(async () => (await numberOf('Tool calls')) === (await own())).toBe(true);
    await page.goto(`${stack.localJson.baseUrl}/compare?left=nothing`);
    await page.getByText('Two jobs are needed').waitFor();
    expect(visit.complaints).toEqual([]);
  });
});
