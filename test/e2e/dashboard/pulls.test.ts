import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { checkLooks, mergePull, startJob, untilStatus, visitDashboard } from '../../support/browser/dashboard.ts';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStack();

/** Expects that the page shows the change of one file, and leads to two pull requests of the job, the second newest. */
async function expectChange(page: Page, { path, not, at }: { path: string; not: string; at: number }): Promise<void> {
  await page.getByRole('region', { name: path }).waitFor();
  expect(await page.getByRole('region', { name: not }).count()).toBe(0);
  const links = page.getByRole('list', { name: 'Pull requests of this job' }).getByRole('link');
  await links.nth(1).waitFor();
  const current = await links.evaluateAll((all) => all.map((link) => link.getAttribute('aria-current')));
  expect(current).toEqual(at === 0 ? ['page', null] : [null, 'page']);
}

describe.runIf(chromiumPath !== null)('the pull requests of a job', () => {
  it('each have a page with their own change, which their turn leads to', { tags: 'slow' }, async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await startJob(page, 'Create one.md with "1"');
    await untilStatus(page, 'completed');
    const job = page.url();
    await page.getByRole('link', { name: 'View pull request' }).click();
    await page.getByRole('region', { name: 'one.md' }).waitFor();
    expect(await page.getByText('Pull requests of this job').count()).toBe(0);
    const first = new URL(page.url()).pathname;
    await mergePull(page);
    await page.getByRole('status').getByText('Merged into main').waitFor();

    await page.goto(job);
    await page.getByLabel('Request a change').fill('Create two.md with "2"');
    await page.getByLabel('Request a change').press('Control+Enter');
    await page.getByRole('region', { name: 'Turn 2' }).waitFor();
    await untilStatus(page, 'completed');
    const ofTurn = (turn: number) => page.getByRole('region', { name: `Turn ${turn}` }).locator('.turn-head');
    await ofTurn(1).getByText('merged').waitFor();
    await ofTurn(2).getByText('open').waitFor();
    await checkLooks(page, 'job-two-pulls');
    const links = [1, 2].map((turn) => ofTurn(turn).getByRole('link', { name: /^PR #\d+$/ }));
    const names = await Promise.all(links.map((link) => link.innerText()));
    expect(await links[0]!.getAttribute('href')).toBe(first);
    await links[0]!.click();

    await page.getByRole('status').getByText('Merged into main').waitFor();
    await page.getByRole('heading', { name: names[0]!.replace('PR ', '') }).waitFor();
    await expectChange(page, { path: 'one.md', not: 'two.md', at: 1 });
    await checkLooks(page, 'pull-earlier');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 844 });
    await checkLooks(page, 'pull-earlier-390-dark');
    await page.setViewportSize({ width: 1280, height: 860 });
    await page.getByRole('list', { name: 'Pull requests of this job' }).getByRole('link').first().click();
    await page.getByRole('heading', { name: names[1]!.replace('PR ', '') }).waitFor();
    await expectChange(page, { path: 'two.md', not: 'one.md', at: 0 });
    await page.getByRole('status').getByText('No conflicts with main').waitFor();

    await page.getByRole('link', { name: 'Pull requests', exact: true }).click();
    const listed = page.getByRole('list', { name: 'Pull requests', exact: true }).getByRole('listitem');
    await listed.nth(1).waitFor();
    const shown = (await listed.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));
    const numbers = names.map((name) => name.replace('PR ', ''));
    expect(shown).toEqual([
      expect.stringMatching(`open.*${numbers[1]!}.*Job, turn 2`),
      expect.stringMatching(`merged.*${numbers[0]!}.*Job, turn 1`),
    ]);
    await checkLooks(page, 'pulls-of-two-turns');
    await page.getByRole('button', { name: /^merged 1$/ }).click();
    await expect.poll(() => listed.count()).toBe(1);
    await listed.getByText('turn 1').waitFor();
    expect(visit.complaints).toEqual([]);
  });
});
