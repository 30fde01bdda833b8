import { gzipSync } from 'node:zlib';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { wakeWatchers } from '../../../db/jobs/wake-watchers.ts';
import { newId } from '../../../db/ids.ts';
import { createThreadStore, type RecordedTurn } from '../../../db/sites/threads.ts';
import { checkLooks, startJob, untilStatus, visitDashboard } from '../../support/browser/dashboard.ts';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';

const stepOf = (page: Page, step: number) => page.getByRole('article', { name: `Step ${step}`, exact: true });
const shared = dashboardStack();

function turnOf(threadId: string, at: number): RecordedTurn {
  const answer = {
    model: 'offline/extract',
    answered: true,
    ending: 'finished',
    firstTokenMs: 1,
    durationMs: 2,
    costMicros: 0,
    location: { topic: null, version: null, language: null },
  } as const;
  return {
    threadId,
    question: {
      id: newId('msg_'),
      content: `Question ${at}?`,
      currentPath: at === 1 ? '/guides/scenes' : null,
      searchQuery: at === 1 ? 'How does a scene run?' : null,
    },
    answer: { id: newId('msg_'), content: `Answer ${at}.`, sources: [], ...answer },
  };
}

describe.runIf(chromiumPath !== null)('the dashboard shows everything', () => {
  it('reads a long conversation page by page', async () => {
    const { browser, stack, pool } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    const { rows } = await pool.query(
      `select sites.id, organization_id as "organizationId", domain
       from sites join projects using (organization_id) where projects.id = $1`,
      [stack.localJson.projectId],
    );
    const threads = createThreadStore(pool);
    const { threadId } = await threads.resolve(rows[0], null);
    await threads.open(rows[0], { threadId, fp: 'reader' });
    for (let at = 1; at <= 30; at += 1) await threads.recordTurn(rows[0], turnOf(threadId, at));
    await page.getByRole('link', { name: 'Conversations' }).click();
    await page.locator('summary', { hasText: 'Question 1?' }).click();
    const thread = page.locator('.thread');
    await thread.getByText('Answer 25.').waitFor();
    await expect.poll(() => thread.getByText('Asked on /guides/scenes').count()).toBe(1);
    expect(await thread.getByText('Searched for "How does a scene run?"').count()).toBe(1);
    expect(await thread.getByText('Answer 26.').count()).toBe(0);
    await page.getByRole('button', { name: 'Later messages' }).scrollIntoViewIfNeeded();
    await checkLooks(page, 'conversation-long-light');
    await page.getByRole('button', { name: 'Later messages' }).click();
    await thread.getByText('Answer 30.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Later messages' }).count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('loads at most 200 KB before the list of jobs, with one font', async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    await using first = await browser.newContext({ storageState: await visit.context.storageState() });
    const page = await first.newPage();
    const sizes: Promise<[string, number]>[] = [];
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (!['document', 'script', 'stylesheet', 'font'].includes(response.request().resourceType())) return;
      sizes.push(response.body().then((body) => [pathname, gzipSync(body).length]));
    });
    await page.goto(`${stack.localJson.baseUrl}/jobs`);
    await page.getByRole('heading', { name: 'Jobs', exact: true }).waitFor();
    const hasFont = () => page.evaluate(() => document.fonts.check('16px "Inter Variable"'));
    await expect.poll(hasFont).toBe(true);
    const loaded = await Promise.all(sizes);
    const isFont = ([path]: [string, number]) => path.endsWith('.woff2');
    expect(loaded.filter(isFont)).toHaveLength(1);
    const total = loaded.reduce((sum, [, bytes]) => sum + bytes, 0);
    expect([loaded, total > 100_000, total <= 200_000]).toEqual([loaded, true, true]);
  });

  it('leads to pages, actions and jobs by the command palette', async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    const id = await startJob(page, 'Create found.md with "by its id"');
    await untilStatus(page, 'completed');
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: 'Commands' });
    const search = palette.getByRole('searchbox');
    await search.fill('oper');
    await palette.getByRole('menuitem', { name: 'Operations' }).waitFor();
    await checkLooks(page, 'palette-light');
    await search.press('Enter');
    await page.waitForURL(/\/operations$/);
    await palette.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Commands' }).click();
    await search.fill(id);
    await palette.getByRole('menuitem', { name: /found\.md.*completed/ }).waitFor();
    await search.press('Enter');
    await page.waitForURL(new RegExp(id));
    await page.keyboard.press('Control+k');
    await search.fill('theme: dark');
    await palette.getByRole('menuitem', { name: 'Theme: dark' }).click();
    await expect.poll(() => page.getByLabel('Theme').inputValue()).toBe('dark');
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

  it('marks what a provider refused and what another worker took over', async () => {
    const { browser, stack, pool } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    const id = await startJob(page, 'Create marked.md with "x"');
    await untilStatus(page, 'completed');
    expect(await page.locator('.step .badge-warn').count()).toBe(0);
    await pool.query('update job_steps set fence = fence + 3, model_failures = 2 where job_id = $1 and step = 1', [id]);
    const error = Array.from({ length: 9 }, (_, line) => `error at line ${line}`).join('\n');
    const failed = JSON.stringify({ isError: true, output: error });
    await pool.query(
      `update job_steps set tool_results = jsonb_set(tool_results, '{0}', tool_results->0 || $2) where job_id = $1 and step = 1`,
      [id, failed],
    );
    await page.reload();
    await stepOf(page, 1).getByText('model failed 2 times').waitFor();
    await stepOf(page, 1).getByText('handed over').waitFor();
    await expect.poll(() => stepOf(page, 2).locator('.badge-warn').count()).toBe(0);

    await stepOf(page, 1).getByRole('button', { name: 'Inspect step 1' }).click();
    const inspector = page.getByRole('complementary', { name: 'Step inspector' });
    await inspector.getByText('The model provider failed 2 times.').waitFor();
    await inspector.getByText('Written to cache').waitFor();
    await inspector.getByText('Create marked.md with "x"', { exact: true }).waitFor();
    const tool = inspector.locator('.tool summary').first();
    await tool.getByText('error at line 3…').waitFor();
    await checkLooks(page, 'job-inspector-error-light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await checkLooks(page, 'job-inspector-error-dark');
    await page.emulateMedia({ colorScheme: 'light' });
    await tool.click();
    await inspector.getByRole('heading', { name: 'Result' }).waitFor();
    await expect.poll(() => tool.getByText('error at line').count()).toBe(0);
    await inspector.getByRole('button', { name: 'Show the exact prompt' }).click();
    await inspector.getByText('Exactly what was sent').waitFor();
    const part = (name: string) => inspector.locator('summary', { hasText: new RegExp(`^${name}`) });
    await part('\\d+ tools with description and schema').click();
    await part('finish ').click();
    await inspector.getByText('Finishes the work.').waitFor();
    await inspector.getByText('"additionalProperties": false').waitFor();
    await part('System ').click();
    await inspector.getByText('You are an agent that changes a git repository').waitFor();
    await checkLooks(page, 'job-inspector-light');
    await page.keyboard.press('j');
    await page.waitForURL(/#step-1-2$/);
    await inspector.getByRole('heading', { name: 'Step 2 of turn 1' }).waitFor();
    await page.keyboard.press('k');
    await inspector.getByRole('heading', { name: 'Step 1 of turn 1' }).waitFor();
    await inspector.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => inspector.count()).toBe(0);

    await visit.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await page.getByRole('button', { name: 'Copy job id' }).click();
    await expect.poll(copied).toBe(id);
    await page.getByRole('button', { name: 'Copy link to step 2' }).click();
    await expect.poll(copied).toBe(page.url().replace(/#.*/, '#step-1-2'));
    expect(visit.complaints).toEqual([]);
  });

  it('keeps what is being pressed in its place when the events of the job arrive', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await startJob(page, 'Create pressed.md with "x"');
    await untilStatus(page, 'completed');
    const pressed = Promise.withResolvers<void>();
    await page.route(/\/job_\w+\/events$/, async (route) => {
      await pressed.promise;
      await route.continue();
    });
    await page.reload();
    const fork = page.getByRole('button', { name: 'Fork from step 1' });
    const prepare = page.getByRole('region', { name: 'Timeline' }).getByRole('link', { name: /^Prepare: / });
    // everything else that moves the layout is already there
    await page.locator('.facts').getByText('Branch', { exact: true }).waitFor();
    await page.getByRole('region', { name: 'Result' }).getByText('1 file changed').waitFor();
    await expect.poll(() => page.locator('.markdown > .words').count()).toBe(0);
    await fork.hover();
    await page.mouse.down();
    expect(await prepare.innerText()).toContain('–');
    pressed.resolve();
    await expect.poll(() => prepare.innerText()).not.toContain('–');
    await page.mouse.up();
    await page.getByRole('dialog', { name: 'Fork from step 1' }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('copies code, messages and errors, also where a browser has no clipboard', async () => {
    const { browser, stack, pool } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    // as over http on another host than localhost
    await visit.context.addInitScript(() => {
      Object.defineProperty(globalThis, 'isSecureContext', { value: false });
      Object.defineProperty(Crypto.prototype, 'randomUUID', { value: undefined });
      Object.defineProperty(Navigator.prototype, 'clipboard', { value: undefined });
    });
    await page.reload();
    const id = await startJob(page, 'Create copied.md with "x"');
    await untilStatus(page, 'completed');
    const message = 'Run it:\n\n```\nnpm run one\n  npm run two\n```\n';
    await pool.query('update jobs set message = $2 where id = $1', [id, message]);
    wakeWatchers(pool, id);
    await page.reload();
    const field = page.getByLabel('Request a change');
    const pasted = async (button: Locator) => {
      await button.click();
      await page.getByRole('button', { name: /^Copied / }).waitFor();
      await field.fill('');
      await field.press('Control+v');
      const text = await field.inputValue();
      await page.getByRole('button', { name: /^Copied / }).waitFor({ state: 'detached' });
      return text;
    };
    const code = page.getByRole('region', { name: 'Result' }).getByRole('button', { name: 'Copy code' });
    expect(await pasted(code)).toBe('npm run one\n  npm run two');
    expect(await pasted(page.getByRole('button', { name: 'Copy message' }))).toBe('Create copied.md with "x"');
    await checkLooks(page, 'job-code-light');

    const error = Array.from({ length: 200 }, (_, line) => `at line ${line} of a long error`).join('\n');
    await pool.query(
      `update jobs set status = 'failed', failure_category = 'setup_failed', message = $2 where id = $1`,
      [id, error],
    );
    wakeWatchers(pool, id);
    await page.reload();
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('at line 0 of a long error').waitFor();
    expect(await result.getByText('at line 199 of a long error').count()).toBe(0);
    expect(await pasted(result.getByRole('button', { name: 'Copy error' }))).toBe(error);
    await result.getByRole('button', { name: 'Show the whole error' }).click();
    await result.getByText('at line 199 of a long error').waitFor();
    await result.getByRole('button', { name: 'Show less' }).click();
    await checkLooks(page, 'job-long-error-light');
    expect(visit.complaints).toEqual([]);
  });
});
