import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { seriousProblems, startJob, untilStatus, visitDashboard } from '../../support/browser/dashboard.ts';
import { insertActiveJob, insertEndedJobs, insertSteps } from '../../support/database/many-jobs.ts';
import { chromiumPath, dashboardStack, expireSessions } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStack();

const scrolled = (page: Page) => page.evaluate(() => scrollY);
const message = (page: Page) => page.getByLabel('Request a change');

describe.runIf(chromiumPath !== null)('the dashboard', () => {
  it('stays where it is when a message starts another turn, and keeps what the turn before ended with', async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await startJob(page, 'Create one.md with "1". Create two.md with "2". Create three.md with "3"');
    await untilStatus(page, 'completed');
    const first = await page.locator('.outcome').innerText();
    const pull = await page.getByRole('link', { name: 'View' }).getAttribute('href');

    await message(page).press('Control+Enter');
    await page.locator('.follow-up .field-error').waitFor();
    await message(page).pressSequentially('Append "More." to one.md');
    expect(await page.locator('.follow-up .field-error').count()).toBe(0);
    await message(page).press('Control+Enter');
    await page.getByRole('region', { name: 'Turn 2' }).waitFor();
    await expect.poll(() => scrolled(page)).toBeGreaterThan(200);
    await expect
      .poll(() => page.locator('.follow-up textarea').evaluate((field) => field === document.activeElement))
      .toBe(true);
    await page.locator('.live-live').waitFor();
    await page.locator('.page-head .badge', { hasText: 'completed' }).waitFor();
    await page.locator('.outcome').nth(1).waitFor();
    expect(await page.locator('.outcome').first().innerText()).toContain(first);
    const link = page
      .locator('.outcome')
      .first()
      .getByRole('link', { name: /^PR #\d+$/ });
    expect(await link.getAttribute('href')).toContain(pull);
    for (const turn of ['Turn 1', 'Turn 2']) {
      const head = page.getByRole('region', { name: turn }).locator('.turn-head');
      await head.getByText('completed').waitFor();
      await head.getByRole('link', { name: /^PR #\d+$/ }).waitFor();
    }
    await page.getByRole('button', { name: 'Show the changes after turn 1' }).click();
    await page.locator('.outcome').first().getByRole('region', { name: 'three.md' }).waitFor();
    expect(await seriousProblems(page)).toEqual([]);

    expect(visit.complaints).toEqual([]);
  });

  it(
    'keeps the field for a message at the end of the window, and nothing with the focus behind it',
    { tags: 'slow' },
    async () => {
      const { browser, stack, pool } = shared;
      const { projectId, baseUrl } = stack.localJson;
      await insertActiveJob(pool, projectId, 'job_composed');
      await insertSteps(pool, 'job_composed', { from: 1, to: 30 });
      await pool.query(
        `update jobs set status = 'failed', phase = null, failure_category = 'internal' where id = 'job_composed'`,
      );
      await pool.query(`update job_turns set status = 'failed', ended_at = now() where job_id = 'job_composed'`);
      await using visit = await visitDashboard(browser, stack);
      const { page } = visit;
      const placeOf = (selector: string) =>
        page.evaluate((selector) => {
          const { top = 0, bottom = 0 } = (
            selector === '' ? document.activeElement : document.querySelector(selector)
          )!.getBoundingClientRect();
          return { top, bottom, window: innerHeight };
        }, selector);
      for (const width of [1280, 390]) {
        await page.setViewportSize({ width, height: 844 });
        await page.goto(`${baseUrl}/jobs/${projectId}/job_composed#step-1-12`);
        // a page that was made narrower measures its steps again, and scrolls meanwhile
        await page.reload();
        await page.locator('#step-1-12.step-here').waitFor();
        await expect.poll(async () => Math.round((await placeOf('#step-1-12')).top)).toBe(64);
        const field = async () => {
          const { top, bottom, window } = await placeOf('.follow-up');
          return { isAtEnd: Math.abs(bottom - window) < 1, isSmall: bottom - top < 160 };
        };
        await expect.poll(field).toEqual({ isAtEnd: true, isSmall: true });
        await page.locator('#step-1-12 .step-name').focus();
        for (let pressed = 0; pressed < 20; pressed += 1) {
          await page.keyboard.press('Tab');
          expect((await placeOf('')).bottom).toBeLessThanOrEqual((await placeOf('.follow-up')).top);
        }
        await message(page).fill('More.');
        await page.locator('.follow-up').getByLabel('Images').waitFor();
        expect((await placeOf('')).bottom).toBeLessThan(844);
        expect(await seriousProblems(page)).toEqual([]);
        await message(page).fill('');
        await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
        await expect
          .poll(async () => (await placeOf('.follow-up')).top - (await placeOf('.conversation-end')).bottom)
          .toBeGreaterThanOrEqual(0);
      }
      expect(visit.complaints).toEqual([]);
    },
  );

  it('keeps the tab in the address, and leads from a pull request to the field for a message', async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await startJob(page, 'Append "\\nMore.\\n" to README.md');
    await untilStatus(page, 'completed');
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.waitForURL(/tab=changes/);
    await page.reload();
    await page.getByRole('tab', { name: 'Changes', selected: true }).waitFor();
    await page.getByRole('button', { name: 'side by side' }).click();
    const omitted = page.locator('.diff-split .diff-gutter-omit').first();
    await omitted.waitFor();
    const bar = await omitted.evaluate((cell) => getComputedStyle(cell, '::before').backgroundColor);
    expect(bar).toBe('rgba(0, 0, 0, 0)');

    await page.getByRole('link', { name: 'View' }).click();
    await page.getByRole('link', { name: 'Request a change' }).click();
    await expect.poll(() => message(page).evaluate((field) => field === document.activeElement)).toBe(true);
    const top = () => message(page).evaluate((field) => field.getBoundingClientRect().top);
    await expect.poll(top).toBeLessThan(800);
    expect(await top()).toBeGreaterThan(0);

    await page.getByRole('link', { name: 'New job' }).click();
    await page.locator('#branches option[value="main"]').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Use “Append "text" to README.md”' }).click();
    expect(await page.getByLabel('What should change?').inputValue()).toBe('Append "text" to README.md');
    expect(visit.complaints).toEqual([]);
  });

  it('keeps the text of a job through a sign-in, and removes the error of an empty one as it is typed', async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await page.getByRole('link', { name: 'New job' }).click();
    await page.getByRole('button', { name: 'Start job' }).click();
    await page.locator('.field-error').waitFor();
    await page.getByLabel('What should change?').pressSequentially('Create kept.md with "x"');
    expect(await page.locator('.field-error').count()).toBe(0);
    await page.getByLabel('branch, tag or commit').fill('main');
    await expireSessions(shared);
    await page.getByRole('button', { name: 'Start job' }).click();
    await page.getByText('Your session has ended.').waitFor();
    await page.getByLabel('Admin key').fill(stack.localJson.adminKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('What should change?').waitFor();
    expect(await page.getByLabel('What should change?').inputValue()).toBe('Create kept.md with "x"');
    expect(await page.getByLabel('branch, tag or commit').inputValue()).toBe('main');
    await page.getByRole('button', { name: 'Start job' }).click();
    await page.waitForURL(/\/job_/);
    await page.getByRole('link', { name: 'New job' }).click();
    expect(await page.getByLabel('What should change?').inputValue()).toBe('');
    await page.getByLabel('What should change?').fill('secret plan');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Admin key').fill(stack.localJson.adminKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('What should change?').waitFor();
    expect(await page.getByLabel('What should change?').inputValue()).toBe('');
    expect(visit.complaints).toEqual([]);
  });

  it('loads the list to its end, returns to the same place in it, and clears the search with the filters', async () => {
    const { browser, stack, pool } = shared;
    await insertEndedJobs(pool, stack.localJson.projectId, 300, 'job_of_places');
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    const toTheEnd = () =>
      page.evaluate(async () => {
        // rows are measured as they are rendered, which moves the end
        for (let at = -1; at !== scrollY;) {
          at = scrollY;
          scrollTo(0, document.body.scrollHeight);
          for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
        }
      });
    // the subscription begins, and has the list fetched again, while the second page is on its way
    const asked = Promise.withResolvers<void>();
    await page.route('**/v1/jobs/events', async (route) => {
      await asked.promise;
      await route.continue();
    });
    await page.route(/\/v1\/jobs\?cursor/, () => asked.resolve(), { times: 1 });
    await page.reload();
    await page.locator('.row').first().waitFor();
    await toTheEnd();
    await asked.promise;

    const row = page.getByRole('link', { name: 'Job number 290', exact: true });
    const seen = async () => {
      await toTheEnd();
      return row.count();
    };
    await expect.poll(seen).toBe(1);
    const before = await scrolled(page);
    await row.click();
    await page.waitForURL(/\/job_/);
    await page.goBack();
    await page.waitForURL(/\/jobs$/);
    await expect.poll(() => scrolled(page)).toBeGreaterThan(before - 200);
    await row.waitFor();

    await page.goto(`${stack.localJson.baseUrl}/jobs?status=failed&q=X1`);
    await expect.poll(() => page.getByLabel('Search jobs').inputValue()).toBe('X1');
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.waitForURL(/\/jobs$/);
    await expect.poll(() => page.getByLabel('Search jobs').inputValue()).toBe('');
    expect(visit.complaints).toEqual([]);
  });

  it('leads away from an address that names nothing, on a phone too', async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack, { width: 390 });
    const { page } = visit;
    const { baseUrl, projectId } = stack.localJson;
    const dead = [
      ['/nope', 'Page not found', 'All jobs', '/jobs'],
      [`/jobs/${projectId}/job_missing`, 'The job could not be loaded', 'All jobs', '/jobs'],
      ['/pulls/pr_missing', 'The pull request could not be loaded', 'All pull requests', '/pulls'],
    ] as const;
    for (const [path, title, link, goal] of dead) {
      await page.goto(baseUrl + path);
      await page.getByRole('heading', { name: title }).waitFor();
      expect(await page.getByRole('button', { name: 'Retry' }).count()).toBe(0);
      const { x, width } = (await page.getByRole('alert').boundingBox())!;
      expect([path, x > 0, x + width < 390]).toEqual([path, true, true]);
      await page.getByRole('link', { name: link }).click();
      await page.waitForURL(baseUrl + goal);
    }
    expect(visit.complaints).toEqual([]);
  });

  it('says in the playground which site answers, and asks a suggested question on a click', async () => {
    const { browser, stack, pool } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('heading', { name: 'Ask the assistant of sample' }).waitFor();
    await page.getByText('from the 8 pages of this site').waitFor();
    await page.getByRole('textbox', { name: 'Question' }).fill('A draft');
    await page.getByRole('button', { name: 'How do I run a scene?' }).click();
    await page.getByText('Did this answer help?').waitFor();
    await page.locator('.passage').first().waitFor();
    expect(await page.getByRole('list', { name: 'Suggested questions' }).count()).toBe(0);
    expect(await page.getByRole('textbox', { name: 'Question' }).inputValue()).toBe('A draft');
    // a conversation counts or not from its first question
    expect(await page.getByRole('checkbox', { name: /conversations and gaps/ }).count()).toBe(0);
    await page.getByRole('button', { name: 'Edit question' }).click();
    await page.getByRole('textbox', { name: 'Question' }).fill('How do I pair a lamp?');
    const sent = page.waitForRequest(/\/assistant\/sample\/message$/);
    await page.getByRole('textbox', { name: 'Question' }).press('Enter');
    expect((await (await sent).allHeaders())['authorization']).toBeUndefined();
    await page.getByRole('group', { name: 'You asked' }).getByText('How do I pair a lamp?').waitFor();
    await page.getByText('Did this answer help?').waitFor();
    expect(await page.getByRole('article', { name: 'Answer' }).count()).toBe(1);
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.getByRole('checkbox', { name: /conversations and gaps/ }).waitFor({ state: 'attached' });
    await page.getByRole('list', { name: 'Suggested questions' }).waitFor();

    await pool.query(
      `update sites set starter_questions = '{}' from projects
       where projects.id = $1 and sites.organization_id = projects.organization_id`,
      [stack.localJson.projectId],
    );
    await page.reload();
    await page.getByRole('link', { name: 'Add some in the settings' }).click();
    await page.waitForURL(/\/settings\/sites$/);
    expect(visit.complaints).toEqual([]);
  });
});
