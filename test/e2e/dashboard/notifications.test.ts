import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';
import { checkLooks, seriousProblems, startJob, visitDashboard } from '../../support/browser/dashboard.ts';

const shared = dashboardStack();

/** Records the notifications that the page shows. A headless browser never hides a tab behind another one. */
async function recordNotifications(page: Page): Promise<void> {
  await page.evaluate(() => {
    const shown: Notification[] = [];
    const Shown = globalThis.Notification;
    const record = class extends Shown {
      constructor(...given: ConstructorParameters<typeof Notification>) {
        super(...given);
        shown.push(this);
      }
    };
    Object.assign(globalThis, { shown, Notification: record });
  });
}

const setHidden = (page: Page, isHidden: boolean) =>
  page.evaluate((hidden) => Object.defineProperty(document, 'hidden', { value: hidden, configurable: true }), isHidden);
const titlesOf = (page: Page) =>
  page.evaluate(() => (globalThis as unknown as { shown: Notification[] }).shown.map(({ title }) => title));

describe.runIf(chromiumPath !== null)('notifications', () => {
  it('tell in a hidden tab that a job has ended, lead to it, and stay on after a reload', async () => {
    const { browser, stack, pool } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page, context } = visit;
    await context.grantPermissions(['notifications']);
    const choice = page.getByRole('checkbox', { name: 'Notify me' });
    await choice.press('Space');
    await expect.poll(() => choice.isChecked()).toBe(true);
    await page.reload();
    await expect.poll(() => choice.isChecked()).toBe(true);
    // there is no notification of a job that ends before the stream is open
    await page.getByText('live', { exact: true }).waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await recordNotifications(page);
    await setHidden(page, true);
    const id = await startJob(page, 'Create unseen.md with "second"');
    await page.getByRole('link', { name: 'Operations' }).click();
    await expect.poll(() => titlesOf(page)).toEqual(['Completed: Create unseen.md']);
    await page.evaluate(() =>
      (globalThis as unknown as { shown: Notification[] }).shown[0]?.dispatchEvent(new Event('click')),
    );
    await page.waitForURL(new RegExp(`/jobs/prj_\\w+/${id}$`));
    // the list reads the stream that the notifications have open
    const streams: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/jobs/events')) streams.push(request.url());
    });
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByText('live', { exact: true }).waitFor();
    const title = page.locator(`[data-job='${id}'] .row-title`);
    await title.getByText('Create unseen.md').waitFor();
    await pool.query(`update jobs set title = 'Renamed', updated_at = now() where id = $1`, [id]);
    await title.getByText('Renamed').waitFor();
    expect(streams).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it('are refused where the browser blocks them, which the dashboard says', async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    // without a grant, a headless browser denies what it is asked for
    const choice = page.getByRole('checkbox', { name: 'Notify me' });
    await choice.press('Space');
    await page.getByRole('status').getByText('The browser blocks notifications from this site').waitFor();
    expect(await choice.isChecked()).toBe(false);
    expect(await seriousProblems(page)).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it('go to a Slack webhook, of whose URL the settings show only the host', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText('New webhook').click();
    await page.getByLabel('Format').selectOption('Slack');
    await page.getByLabel('URL').fill('https://hooks.slack.com/services/T0/B0/XyZ');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    const card = page.getByRole('region', { name: 'https://hooks.slack.com/***' });
    await card.getByText('Slack · all events').waitFor();
    expect(await page.locator('.shown-once').count()).toBe(0);
    await card.getByText('Edit', { exact: true }).click();
    await card.getByText('Leave it empty to keep the URL').waitFor();
    await card.getByLabel('Description').fill('For the team');
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText('For the team', { exact: true }).waitFor();
    await checkLooks(page, 'webhook-slack-light');
    await card.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete webhook' }).click();
    await card.waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });
});
