import { describe, expect, it } from 'vitest';
import { checkLooks, visitDashboard } from '../../support/browser/dashboard.ts';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStack();

describe.runIf(chromiumPath !== null)('the sources of a site', () => {
  it(
    'are added, weighted and removed, with a reason for what is refused',
    { tags: 'slow', timeout: 180_000 },
    async () => {
      const { browser, stack } = shared;
      await using visit = await visitDashboard(browser, stack, { colorScheme: 'dark' });
      const { page } = visit;
      await page.goto(`${stack.localJson.baseUrl}/settings/sites`);
      const card = page.getByRole('region', { name: 'sample' });
      await card.getByText(/version \d+, 8 pages/).waitFor();
      await card.getByText('Edit', { exact: true }).click();
      const update = card.getByRole('button', { name: 'Update sources' });
      await card.getByRole('button', { name: 'Add source' }).click();
      const first = card.getByRole('group', { name: 'Source 1' });
      await first.getByLabel('Repository').fill(`${stack.home}/repositories/lamp.git`);
      await first.getByLabel('Folder').fill('docs/guides');
      await update.click();
      await card.getByText('The empty prefix belongs to the repository or directory.').waitFor();
      await first.getByLabel('Prefix').fill('more');
      await first.getByLabel('Weight').fill('50');
      await update.click();
      await first.getByText('Must be at most 10.').waitFor();
      await first.getByLabel('Weight').fill('0.5');
      await update.click();
      await card.getByText(/version \d+, 13 pages/).waitFor();
      await card.getByText('weight 0.5').waitFor();
      await card.getByRole('button', { name: 'Add source' }).click();
      const second = card.getByRole('group', { name: 'Source 2' });
      await second.getByLabel('Pages from').selectOption('website');
      await second.getByLabel('URL').fill('http://127.0.0.1:9/guide/');
      await second.getByLabel('Prefix').fill('more');
      await update.click();
      await card.getByText('must have different prefixes').waitFor();
      await checkLooks(page, 'site-sources-dark');
      await second.getByLabel('Pages from').selectOption('issues');
      await second.getByLabel('Repository').fill('https://github.com/acme/app');
      await second.getByLabel('Groups that may read them').fill('support');
      const sentSource = async () => {
        const sent = page.waitForRequest((request) => request.method() === 'PATCH');
        await update.click();
        return (await sent).postDataJSON().sources[1];
      };
      const threads = { prefix: 'more', threads: 'answered', weight: 0.5 };
      expect(await sentSource()).toEqual({
        ...threads,
        kind: 'issues',
        repository: 'https://github.com/acme/app',
        groups: ['support'],
        labels: [],
      });
      await second.getByLabel('Pages from').selectOption('discussions');
      await second.getByLabel('Labels').fill('faq');
      expect(await sentSource()).toMatchObject({
        ...threads,
        kind: 'discussions',
        groups: ['support'],
        labels: ['faq'],
      });
      await second.getByLabel('Pages from').selectOption('discourse');
      const url = 'http://127.0.0.1:9/c/support/6';
      await second.getByLabel('URL').fill(url);
      expect(await sentSource()).toEqual({ ...threads, kind: 'discourse', url, tags: ['faq'] });
      await second.getByRole('button', { name: 'Remove source 2' }).click();
      await first.getByLabel('Weight').fill('2');
      const removed = Promise.withResolvers<void>();
      await page.route('**/v1/sites/*', async (route) => {
        if (route.request().method() === 'PATCH') await removed.promise;
        await route.continue();
      });
      await update.click();
      // a change while the form is saved
      await first.getByRole('button', { name: 'Remove source 1' }).click();
      removed.resolve();
      await card.getByText('weight 2').waitFor();
      await update.click();
      await card.getByText('Source below /more').waitFor({ state: 'detached' });
      await card.getByText(/version \d+, 8 pages/).waitFor();
      expect(visit.complaints).toEqual([]);
    },
  );
});
