import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { startJob, untilStatus, visitDashboard } from '../../support/browser/dashboard.ts';
import { enter, focusRow, tabTo, walkAround } from '../../support/browser/keyboard.ts';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStack();
const jobs = {} as { job: string; other: string };

beforeAll(async () => {
  if (chromiumPath === null) return;
  await using visit = await visitDashboard(shared.browser, shared.stack);
  const { page } = visit;
  const made = async (prompt: string) => {
    await startJob(page, prompt);
    await untilStatus(page, 'completed');
    return new URL(page.url()).pathname;
  };
  jobs.other = await made('Create other.md with "Other."');
  jobs.job = await made('Replace "colour" with "color" everywhere. Create docs/guides/new.md with "# New"');
});

async function open(page: Page, path: string): Promise<void> {
  await page.goto(shared.stack.localJson.baseUrl + path);
  await page.locator('main h1, main h2').first().waitFor();
  await expect.poll(() => page.locator('.loading:not(.design-part *)').count()).toBe(0);
}

/** Opens a dialog from its button with the keyboard, leaves it with Escape, and expects the focus back on the button. */
async function openAndLeave(page: Page, button: Locator, dialog: Locator): Promise<void> {
  await enter(page, button);
  await dialog.waitFor();
  await expect.poll(() => dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true);
}

const nameOf = (path: string) => encodeURIComponent(path.replace('/jobs/', ''));
const timeout = 300_000;

describe.runIf(chromiumPath !== null)('with the keyboard alone', () => {
  it('each page is walked around, and the focus is always visible', { tags: 'slow', timeout }, async () => {
    const { browser, stack, job, other } = { ...shared, ...jobs };
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    const paths = [
      '/jobs',
      '/new',
      job,
      `${job}?tab=changes`,
      '/pulls',
      `/compare?left=${nameOf(other)}&right=${nameOf(job)}`,
      '/playground',
      '/conversations',
      '/gaps',
      '/analytics',
      '/evaluations',
      '/operations',
      ...['keys', 'projects', 'sites', 'webhooks', 'audit'].map((name) => `/settings/${name}`),
      '/design',
      '/no-such-page',
    ];
    for (const path of paths) {
      await open(page, path);
      expect([path, (await walkAround(page)) > 10]).toEqual([path, true]);
    }
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('a job is created, inspected, forked and archived', { tags: 'slow', timeout }, async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await enter(page, page.getByRole('link', { name: 'New job' }));
    await tabTo(page, page.getByLabel('What should change?'));
    await page.keyboard.type('Create keys.md with "By key."');
    await page.keyboard.press('Control+Enter');
    await untilStatus(page, 'completed');

    await tabTo(page, page.getByRole('link', { name: /^Turn 1: / }));
    await page.keyboard.press('ArrowDown');
    await page.locator('.waterfall-values', { hasText: 'Queue: ' }).waitFor();

    const inspect = page.getByRole('button', { name: 'Inspect step 1' });
    await enter(page, inspect);
    const inspector = page.getByRole('complementary', { name: 'Step inspector' });
    await inspector.waitFor();
    await page.keyboard.press('Escape');
    await inspector.waitFor({ state: 'detached' });
    await expect
      .poll(() => page.locator('#step-1-1 .step-name').evaluate((it) => it === document.activeElement))
      .toBe(true);

    // in a narrow window, it covers the page
    await page.setViewportSize({ width: 390, height: 844 });
    await enter(page, inspect);
    await inspector.waitFor();
    const isBehind = () => page.evaluate(() => document.activeElement?.closest('#root') !== null);
    for (let press = 0; press < 30; press += 1) {
      await page.keyboard.press('Tab');
      expect(await isBehind()).toBe(false);
    }
    const close = inspector.getByRole('button', { name: 'Close' });
    await page.setViewportSize({ width: 390, height: 400 });
    expect(await inspector.evaluate((it) => (it.scrollTop = it.scrollHeight) && it.scrollTop)).toBeGreaterThan(100);
    expect((await close.boundingBox())?.y).toBeGreaterThan(0);
    await enter(page, close);
    await inspector.waitFor({ state: 'detached' });
    expect(await page.locator('#step-1-1 .step-name').evaluate((it) => it === document.activeElement)).toBe(true);
    await page.setViewportSize({ width: 1280, height: 860 });

    await openAndLeave(page, page.getByRole('button', { name: 'Fork from step 1' }), page.getByRole('dialog'));
    await tabTo(page, page.getByRole('tab', { name: 'Conversation' }), 'Shift+Tab');
    await page.keyboard.press('ArrowRight');
    await page.getByRole('region', { name: 'keys.md' }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await openAndLeave(page, page.getByRole('button', { name: /^Compare with/ }), page.getByRole('dialog'));
    await openAndLeave(page, page.getByRole('button', { name: 'Delete' }), page.getByRole('alertdialog'));

    await tabTo(page, page.getByLabel('Request a change'));
    await page.keyboard.type('Append "Again." to keys.md');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('region', { name: 'Turn 2' }).waitFor();
    await untilStatus(page, 'completed');
    expect(visit.complaints).toEqual([]);
  });

  it('jobs are filtered, selected and opened, and the palette leads to a page', { tags: 'slow', timeout }, async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await page.locator('.row').nth(1).waitFor();
    await enter(page, page.getByRole('button', { name: /^completed/ }));
    // the address changes before the list, and its old rows would lose the focus
    await page.getByRole('button', { name: /^completed/, pressed: true }).waitFor();
    await tabTo(page, page.getByRole('button', { name: /^Created/ }));
    await page.keyboard.press('Enter');
    await page.locator('[aria-sort=ascending]').waitFor();
    await focusRow(page);
    await page.keyboard.press('x');
    await page.getByRole('region', { name: 'Selected jobs' }).waitFor();
    await enter(page, page.getByRole('button', { name: 'Clear selection' }));
    await openAndLeave(page, page.getByRole('button', { name: /^Commands/ }), page.getByRole('dialog'));
    await openAndLeave(page, page.getByRole('button', { name: /^Shortcuts/ }), page.getByRole('dialog'));
    const answer = Promise.withResolvers<void>();
    await page.route(/\/v1\/jobs\?.*q=oper/, (route) => answer.promise.then(() => route.continue()));
    await page.keyboard.press('Control+k');
    await page.getByRole('group', { name: 'Jobs', exact: true }).waitFor();
    await page.keyboard.type('oper');
    // Enter must not choose a match of the previous text
    await page.getByRole('group', { name: 'Jobs', exact: true }).waitFor({ state: 'detached' });
    answer.resolve();
    await page.getByRole('menuitem', { name: 'Operations' }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/operations$/);
    await enter(page, page.getByRole('button', { name: 'week' }));
    await page.getByRole('button', { name: 'week', pressed: true }).waitFor();
    const plot = page.getByRole('slider', { name: 'Turns: values by time' });
    await tabTo(page, plot);
    await page.keyboard.press('ArrowLeft');
    await page.locator('.plot-values').waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('a change is reviewed and merged', { tags: 'slow', timeout }, async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await enter(page, page.getByRole('link', { name: 'Pull requests' }));
    await enter(page, page.getByRole('button', { name: /^open/ }));
    await enter(page, page.getByRole('list', { name: 'Pull requests' }).getByRole('link', { name: /other\.md/ }));
    await page.getByText('No conflicts with').waitFor();
    const merge = page.getByRole('button', { name: 'Merge', exact: true });
    await openAndLeave(page, page.getByRole('button', { name: 'Close', exact: true }), page.getByRole('alertdialog'));
    await tabTo(page, merge, 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('alertdialog').waitFor();
    await enter(page, page.getByRole('button', { name: 'Merge into main' }));
    await page.getByText('Merged into main').waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('a question is asked and rated, and a gap is checked again', { tags: 'slow', timeout }, async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await enter(page, page.getByRole('link', { name: 'Playground' }));
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    await tabTo(page, page.getByRole('checkbox', { name: /conversations and gaps/ }));
    await page.keyboard.press('Space');
    await tabTo(page, page.getByRole('textbox', { name: 'Question' }), 'Shift+Tab');
    await page.keyboard.type('Is there a mobile app for Android?');
    await page.keyboard.press('Enter');
    const no = page.getByRole('group', { name: 'Did this answer help?' }).getByRole('button', { name: 'No' });
    await no.waitFor();
    await tabTo(page, no, 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('form', { name: 'What is wrong?' }).waitFor();

    await enter(page, page.getByRole('link', { name: 'Conversations' }));
    await page.getByRole('heading', { name: 'Conversations' }).waitFor();
    await tabTo(page, page.locator('summary', { hasText: 'mobile app' }).first());
    await page.keyboard.press('Enter');
    await page.getByText('Rated not helpful').waitFor();
    await enter(page, page.getByRole('link', { name: 'Gaps' }));
    const gap = page.getByRole('region', { name: /mobile app/ });
    await enter(page, gap.getByRole('button', { name: 'Ask again' }));
    await gap.getByText(/^checked/).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('settings are changed, and a key is created and revoked', { tags: 'slow', timeout }, async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await enter(page, page.getByRole('link', { name: 'Settings', exact: true }));
    await tabTo(page, page.getByText('New key', { exact: true }));
    await page.keyboard.press('Enter');
    const form = page.getByRole('form', { name: 'New key' });
    await tabTo(page, form.getByLabel('Name'));
    await page.keyboard.type('by keyboard');
    await page.keyboard.press('Enter');
    const row = page.getByRole('row', { name: /by keyboard/ });
    const revoke = row.getByRole('button', { name: 'Revoke' });
    await openAndLeave(page, revoke, page.getByRole('alertdialog'));
    await page.keyboard.press('Enter');
    await page.getByRole('alertdialog').waitFor();
    await enter(page, page.getByRole('button', { name: 'Revoke key' }));
    await row.getByText('revoked').waitFor();

    const parts = page.getByRole('navigation', { name: 'Settings' });
    await tabTo(page, parts.getByRole('link', { name: 'Projects' }), 'Shift+Tab');
    await page.keyboard.press('Enter');
    const panel = page.locator('details.panel').first();
    await tabTo(page, panel.locator('summary').first());
    await page.keyboard.press('Enter');
    await tabTo(page, panel.getByLabel('Budget per day (USD)'));
    await page.keyboard.type('7');
    await page.keyboard.press('Enter');
    await panel.getByText('Saved.').waitFor();

    await tabTo(page, parts.getByRole('link', { name: 'Sites' }), 'Shift+Tab');
    await page.keyboard.press('Enter');
    await enter(page, page.getByRole('button', { name: 'Re-index' }).first());
    await tabTo(page, parts.getByRole('link', { name: 'Webhooks' }), 'Shift+Tab');
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByText('New webhook', { exact: true }));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByLabel('URL'));
    await page.keyboard.type('https://hooks.example.com/docket');
    expect(visit.complaints).toEqual([]);
  });
});
