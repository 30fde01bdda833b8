import { describe, expect, it } from 'vitest';
import { mergePull, seriousProblems, untilStatus, visitDashboard } from '../../support/browser/dashboard.ts';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStack();

describe.runIf(chromiumPath !== null)('the first steps', () => {
  it('lead to a merged pull request and an answered question, with the offline models', { tags: 'slow' }, async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    const steps = page.getByRole('region', { name: 'First steps' });
    const done = steps.getByRole('img', { name: 'Done' });
    await steps.waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await steps.getByRole('link', { name: 'Start a job' }).click();
    await page.getByRole('button', { name: 'Start job' }).click();
    await untilStatus(page, 'completed');

    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await expect.poll(() => done.count()).toBe(1);
    await steps.getByRole('link', { name: 'Open the pull request' }).click();
    await mergePull(page);
    await page.getByText('Merged into main').waitFor();

    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await expect.poll(() => done.count()).toBe(2);
    await steps.getByRole('link', { name: 'Ask a question' }).click();
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByText('Did this answer help?').waitFor();
    await expect.poll(() => page.locator('a.docket-source').count()).toBeGreaterThan(0);

    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByRole('table', { name: 'Jobs' }).waitFor();
    await steps.waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('lead from a page that needs a site to where one is created', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await page.route('**/v1/session', async (route) => {
      const session = await (await route.fetch()).json();
      await route.fulfill({ json: { ...session, sites: [] } });
    });
    await page.goto(`${shared.stack.localJson.baseUrl}/gaps`);
    await page.getByRole('heading', { name: 'Gaps' }).waitFor();
    await page.getByRole('link', { name: 'Create a site' }).click();
    await page.getByText('New site').waitFor();
  });

  it('select the placeholder of a sentence that is used', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await page.getByRole('link', { name: 'New job' }).click();
    await page.getByRole('button', { name: 'Use “Delete PATH”' }).click();
    await page.keyboard.type('old.md');
    await page.getByRole('button', { name: 'Use “Create PATH with "text"”' }).click();
    await page.keyboard.type('new.md');
    expect(await page.getByLabel('What should change?').inputValue()).toBe('Delete old.md\nCreate new.md with "text"');
  });
});
