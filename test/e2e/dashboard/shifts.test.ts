import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { startJob, untilStatus, visitDashboard } from '../../support/browser/dashboard.ts';
import { chromiumPath, ownDashboardStack, type DashboardOfFile } from '../../support/browser/dashboard-of-file.ts';
import type { TestStack } from '../../support/stack/stack.ts';

const shared = ownDashboardStack() as DashboardOfFile<TestStack> & { pages: Record<string, string> };

beforeAll(async () => {
  if (chromiumPath === null) return;
  const { browser, stack, pool } = shared;
  const { baseUrl, domain, assistantKey } = stack.localJson;
  await using visit = await visitDashboard(browser, stack);
  const { page } = visit;
  const here = () => new URL(page.url()).pathname;
  const pages: Record<string, string> = {};
  await startJob(page, 'Replace "colour" with "color" everywhere. Create docs/guides/new.md with "# New"');
  await untilStatus(page, 'completed');
  pages['a finished job'] = here();
  pages['its changes'] = `${here()}?tab=changes`;
  pages['a pull request'] = (await page.getByRole('link', { name: 'View' }).getAttribute('href')) ?? '';
  await startJob(page, 'Replace "nothing like this" with "x" everywhere.');
  await untilStatus(page, 'completed');
  pages['a job without changes'] = here();
  await startJob(page, 'Run "sleep 600"');
  await page.getByText('running for').first().waitFor();
  pages['an active job'] = here();
  await fetch(`${baseUrl}/discovery/v2/assistant/${domain}/message`, {
    method: 'POST',
    headers: { authorization: `Bearer ${assistantKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      fp: 'anonymous',
      messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'Is there a mobile app for Android?' }] }],
    }),
  }).then((answer) => answer.text());
  Object.assign(pages, {
    'the jobs': '/jobs',
    'a new job': '/new',
    'the pull requests': '/pulls',
    'the playground': '/playground',
    'the conversations': '/conversations',
    'the gaps': '/gaps',
    'the analytics': '/analytics',
    'the evaluations': '/evaluations',
    'the operations': '/operations',
    'a comparison': `/compare?left=${nameOf(pages['a finished job']!)}&right=${nameOf(pages['a job without changes']!)}`,
    'the keys': '/settings/keys',
    'the projects': '/settings/projects',
    'the sites': '/settings/sites',
    'the webhooks': '/settings/webhooks',
    'the audit log': '/settings/audit',
  });
  await stack.pause('worker');
  await pool.query(`update workers set seen_at = now() - interval '1 minute'`);
  await startJob(page, 'Create queued.md with "x"');
  pages['a queued job'] = here();
  shared.pages = pages;
});

function nameOf(path: string): string {
  return encodeURIComponent(path.replace('/jobs/', ''));
}

interface Shift {
  value: number;
  /** The elements that moved, with their positions before and after. */
  moved: string[];
}

/** Records what moves in the page, as the browser reports it. */
function observeShifts(): void {
  const shifts: Shift[] = [];
  Object.assign(globalThis, { shifts });
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries() as any[]) {
      const moved = sources.map(({ node, previousRect, currentRect }: any) => {
        const text = node?.outerHTML ?? node?.textContent ?? '';
        return `${text.slice(0, 80)}: ${previousRect.x},${previousRect.y} to ${currentRect.x},${currentRect.y}`;
      });
      shifts.push({ value, moved });
    }
  }).observe({ type: 'layout-shift', buffered: true });
}

const painted = (page: Page) =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

/**
 * Lets scripts and responses reach the page one at a time, each after the previous one is rendered. Returns a promise
 * that resolves when all have arrived.
 */
async function oneAtATime(page: Page): Promise<() => Promise<void>> {
  let last: Promise<unknown> = Promise.resolve();
  await page.route(/\.js$|\/v[12]\//, async (route) => {
    if (new URL(route.request().url()).pathname.endsWith('/events')) return route.continue();
    const before = last;
    const passed = async () => {
      // the response of a page that was left is not needed
      const answer = await route.fetch().catch(() => null);
      await before;
      if (answer === null) return;
      await route.fulfill({ response: answer }).catch(() => undefined);
      await painted(page).catch(() => undefined);
    };
    last = passed();
    return last;
  });
  return async () => {
    let seen: Promise<unknown> | null = null;
    while (seen !== last) {
      seen = last;
      await seen;
      await painted(page);
    }
  };
}

describe.runIf(chromiumPath !== null)('the first load of a page', () => {
  it.each([1440, 390])('moves nothing that is on the screen, %d pixels wide', { tags: 'slow' }, async (width) => {
    await using visit = await visitDashboard(shared.browser, shared.stack, { width });
    const { page } = visit;
    // most pages fit on the screen
    await page.setViewportSize({ width, height: 2_600 });
    await page.addInitScript(observeShifts);
    // the time axis of an active job grows with the time
    await page.clock.setFixedTime(new Date());
    const settled = await oneAtATime(page);
    for (const [name, path] of Object.entries(shared.pages)) {
      await page.goto(shared.stack.localJson.baseUrl + path);
      await page.locator('main h1').first().waitFor();
      await expect.poll(() => page.locator('.loading').count()).toBe(0);
      await settled();
      const shifts = await page.evaluate(() => (globalThis as any).shifts as Shift[]);
      expect([name, shifts]).toEqual([name, []]);
    }
    expect(visit.complaints).toEqual([]);
  });
});
