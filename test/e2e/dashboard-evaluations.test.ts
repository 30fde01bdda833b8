import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { findChromium, launchChromium } from '../support/browser.ts';
import { checkLooks, visitDashboard } from '../support/dashboard.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

const chromiumPath = findChromium();
const resources = new AsyncDisposableStack();
const shared = {} as { stack: TestStack; browser: Browser };

beforeAll(async () => {
  if (chromiumPath === null) return;
  shared.stack = resources.use(await startTestStack());
  shared.browser = await launchChromium(chromiumPath);
  resources.defer(() => shared.browser.close());
});

afterAll(() => resources.disposeAsync());

describe.runIf(chromiumPath !== null)('the evaluations page', () => {
  it('compares two configurations over a set, in light and dark', { tags: ['slow'] }, async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await page.getByRole('link', { name: 'Evaluations' }).click();
    await page.getByLabel('Name').fill('Basics');
    await page.getByLabel('Questions').fill('How do I run a scene?\n\nWhich gearbox does the submarine have?');
    await page.getByRole('button', { name: 'Create question set' }).click();
    const form = page.getByRole('form', { name: 'New evaluation' });
    await form.waitFor();
    await page.getByText('Compare with another configuration').click();
    await form.getByLabel('Passages').fill('2');
    await form.getByRole('button', { name: 'Evaluate' }).click();
    await page.waitForURL(/id=eval_/);
    await page.getByRole('heading', { name: 'Basics: completed' }).waitFor({ timeout: 90_000 });
    await page.getByText('The second configuration is').waitFor();
    const results = page.getByRole('group', { name: 'Results by question' });
    await results.locator('summary').first().click();
    await results.locator('.words').first().waitFor();
    await expect.poll(() => results.getByText('not passed').count()).toBe(2);
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await checkLooks(page, `evaluations-${scheme}`);
    }
    expect(visit.complaints).toEqual([]);
  });
});
