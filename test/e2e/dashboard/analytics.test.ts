import { describe, expect, it } from 'vitest';
import { checkLooks, visitDashboard } from '../../support/browser/dashboard.ts';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStack();

async function ask(text: string): Promise<void> {
  const { baseUrl, domain, assistantKey } = shared.stack.localJson;
  const response = await fetch(`${baseUrl}/discovery/v2/assistant/${domain}/message`, {
    method: 'POST',
    headers: { authorization: `Bearer ${assistantKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ fp: 'anonymous', stream: false, messages: [{ id: '1', role: 'user', content: text }] }),
  });
  expect(response.status).toBe(200);
  await response.text();
}

describe.runIf(chromiumPath !== null)('the analytics page', () => {
  it('shows what readers asked in light and dark, and leads to the conversations', { tags: ['slow'] }, async () => {
    const { browser, stack } = shared;
    await ask('How do I run a scene?');
    await ask('How do I run a scene?');
    await ask('Which gearbox does the submarine have?');
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await page.getByRole('link', { name: 'Analytics' }).click();
    await page.locator('.figures', { hasText: '2 of 3' }).waitFor();
    const gap = page.getByRole('group', { name: 'Missing pages' });
    await gap.getByText('Which gearbox does the submarine have?').waitFor();
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await checkLooks(page, `analytics-${scheme}`);
      const swatch = await page.locator('.legend .swatch').first().boundingBox();
      expect(swatch?.width).toBeGreaterThan(8);
    }
    const csv = page.getByRole('link', { name: 'Download CSV of Missing pages' });
    const [download] = await Promise.all([page.waitForEvent('download'), csv.click()]);
    expect(download.suggestedFilename()).toBe(`${stack.localJson.domain}-gaps.csv`);

    const topics = page.getByRole('group', { name: 'Topics' });
    await topics.getByRole('link').first().click();
    await page.waitForURL(/\/conversations\?.*topic=/);
    await page.locator('.conversation').first().waitFor();
    expect(await page.locator('.conversation').count()).toBeLessThanOrEqual(3);
    await checkLooks(page, 'conversations-narrowed');
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(() => page.locator('.conversation').count()).toBe(3);

    await page.getByRole('link', { name: 'Analytics' }).click();
    await page.getByRole('button', { name: '7 days' }).click();
    const plot = page.getByRole('slider', { name: 'Questions: values by time' });
    await plot.focus();
    await plot.press('End');
    await plot.press('Enter');
    await page.waitForURL(/since=/);
    await expect.poll(() => page.locator('.conversation').count()).toBeGreaterThan(0);
    expect(visit.complaints).toEqual([]);
  });
});
