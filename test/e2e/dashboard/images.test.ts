import { expect, it } from 'vitest';
import { findBrowser, launchBrowser } from '../../support/browser/browser.ts';
import { checkLooks, untilStatus, visitDashboard } from '../../support/browser/dashboard.ts';
import { pngOf } from '../../support/sandbox/images.ts';
import { startTestStack } from '../../support/stack/stack.ts';

const chromiumPath = findBrowser('Chromium');

it.runIf(chromiumPath !== null)(
  'the images of a prompt are chosen in a form and shown in the conversation',
  async () => {
    const prices = JSON.stringify({ 'offline/editor': { images: true } });
    await using stack = await startTestStack({ env: { DOCKET_MODEL_PRICES: prices } });
    const browser = await launchBrowser('Chromium', chromiumPath!);
    await using visit = await visitDashboard(browser, stack);
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
    await browser.close();
  },
);
