import { describe, expect, it } from 'vitest';
import { checkLooks, untilStatus, visitDashboard } from '../../support/browser/dashboard.ts';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';
import { pngOf } from '../../support/sandbox/images.ts';

const shared = dashboardStack();

describe.runIf(chromiumPath !== null)('the images of a prompt', () => {
  it('are chosen in a form and shown in the conversation', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page, complaints } = visit;
    await page.getByRole('link', { name: 'New job' }).first().click();
    await page.getByLabel('What should change?').fill('Create seen.md with "text"');
    const files = [32, 200].map((shade) => ({
      name: `screen-${shade}.png`,
      mimeType: 'image/png',
      buffer: pngOf({ width: 300, height: 200, shade }),
    }));
    await page.getByLabel('Images').setInputFiles(files);
    await page.getByRole('button', { name: 'Remove screen-200.png' }).click();
    await page.getByRole('button', { name: 'Start job' }).click();
    await untilStatus(page, 'completed');
    const image = page.locator('.said').getByRole('img', { name: 'screen-32.png' });
    await image.scrollIntoViewIfNeeded();
    await expect.poll(() => image.evaluate((element: any) => element.naturalWidth)).toBe(300);
    await expect.poll(() => page.locator('.said img').count()).toBe(1);
    await checkLooks(page, 'job-with-image');
    expect(complaints).toEqual([]);
  });
});
