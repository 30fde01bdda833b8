import { describe, expect, it } from 'vitest';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';
import { checkLooks, visitDashboard } from '../../support/browser/dashboard.ts';

const shared = dashboardStack();

describe.runIf(chromiumPath !== null)('a page whose API fails', () => {
  it('shows the error until it has data, and then that the data is old', { tags: 'slow' }, async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack, { colorScheme: 'dark', width: 390 });
    const { page } = visit;
    const refusal = { status: 429, json: { error: 'Too many requests. Try again in 30 seconds.' } };
    const evaluations = /\/v1\/sites\/[^/]+\/evaluations$/;
    await page.route(evaluations, (route) => route.fulfill(refusal));
    await page.goto(`${shared.stack.localJson.baseUrl}/evaluations`);
    const problem = page.getByRole('heading', { name: 'Evaluations could not be loaded' });
    await problem.waitFor();

    const held = Promise.withResolvers<void>();
    await page.route(evaluations, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.waitForRequest(evaluations);
    expect([await problem.count(), await page.locator('.loading').count()]).toEqual([1, 0]);
    held.resolve();
    await problem.waitFor({ state: 'detached' });
    await page.getByText('None yet.').first().waitFor();

    await page.route(evaluations, (route) => route.fulfill(refusal));
    await page.getByText('Not up to date: Too many requests. Try again in 30 seconds.').waitFor();
    await page.getByText('None yet.').first().waitFor();
    await checkLooks(page, 'evaluations-old-dark');
    expect(visit.complaints).toEqual([]);
  });

  it('says that the server does not respond, even before anything is shown', { tags: 'slow' }, async () => {
    await using context = await shared.browser.newContext();
    const page = await context.newPage();
    await page.route('**/v1/session', () => {});
    await page.goto(shared.stack.localJson.dashboardUrl);
    await page.getByText('Docket has not responded for 10 seconds. Still waiting…').waitFor();
  });
});
