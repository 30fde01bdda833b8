import type { Browser } from 'playwright-core';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { createThreadStore, type RecordedTurn } from '../../db/sites/threads.ts';
import { findChromium, launchChromium } from '../support/browser.ts';
import { checkLooks, startJob, untilStatus, visitDashboard } from '../support/dashboard.ts';
import { startTestStack, type TestStack } from '../support/stack.ts';

const chromiumPath = findChromium();
const resources = new AsyncDisposableStack();
const shared = {} as { stack: TestStack; browser: Browser; pool: pg.Pool };

beforeAll(async () => {
  if (chromiumPath === null) return;
  shared.stack = resources.use(await startTestStack());
  shared.browser = await launchChromium(chromiumPath);
  resources.defer(() => shared.browser.close());
  shared.pool = new pg.Pool({ connectionString: shared.stack.localJson.databaseUrl, max: 2 });
  resources.defer(() => shared.pool.end());
});

afterAll(() => resources.disposeAsync());

function turnOf(threadId: string, at: number): RecordedTurn {
  const answer = {
    model: 'offline/extract',
    answered: true,
    ending: 'finished',
    firstTokenMs: 1,
    durationMs: 2,
  } as const;
  return {
    threadId,
    question: { id: newId('msg_'), content: `Question ${at}?`, currentPath: at === 1 ? '/guides/scenes' : null },
    answer: { id: newId('msg_'), content: `Answer ${at}.`, sources: [], ...answer },
  };
}

describe.runIf(chromiumPath !== null)('the dashboard shows everything', () => {
  it('reads a long conversation page by page', async () => {
    const { browser, stack, pool } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    const { rows } = await pool.query(
      'select id, organization_id as "organizationId", domain from sites where domain = $1',
      [stack.localJson.domain],
    );
    const threads = createThreadStore(pool);
    const { threadId } = await threads.resolve(rows[0], null);
    await threads.open(rows[0], { threadId, fp: 'reader' });
    for (let at = 1; at <= 30; at += 1) await threads.recordTurn(rows[0], turnOf(threadId, at));
    await page.getByRole('link', { name: 'Conversations' }).click();
    await page.locator('summary', { hasText: 'Question 1?' }).click();
    const thread = page.locator('.thread');
    await thread.getByText('Answer 25.').waitFor();
    expect(await thread.getByText('Asked on /guides/scenes').count()).toBe(1);
    expect(await thread.getByText('Answer 26.').count()).toBe(0);
    await page.getByRole('button', { name: 'Later messages' }).scrollIntoViewIfNeeded();
    await checkLooks(page, 'conversation-long-light');
    await page.getByRole('button', { name: 'Later messages' }).click();
    await thread.getByText('Answer 30.').waitFor();
    expect(await page.getByRole('button', { name: 'Later messages' }).count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('shows what was not done, and that the pull request is a draft', async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await startJob(page, 'Create partial.md with "x". Paint the lamp green.');
    await untilStatus(page, 'completed');
    await page.locator('.result .badge-pr-draft').waitFor();
    const outcome = page.locator('.outcome');
    await outcome.getByText('Incomplete').waitFor();
    await outcome.getByRole('status').waitFor();
    await outcome.scrollIntoViewIfNeeded();
    await checkLooks(page, 'job-incomplete-light');
    expect(visit.complaints).toEqual([]);
  });
});
