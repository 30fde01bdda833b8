import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  checkLooks,
  startJob,
  untilStatus,
  visitDashboard,
  type DashboardVisit,
  type VisitOptions,
} from '../../support/browser/dashboard.ts';
import { chromiumPath, dashboardStackWithModel } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStackWithModel();

const finishes = (title: string) => ({ toolCalls: [{ name: 'finish', input: { title, summary: `${title}.` } }] });

/** Runs a job that writes files; the shared.browser is then on the changes of the job. */
async function visitChanges(title: string, options: VisitOptions = {}): Promise<DashboardVisit> {
  const visit = await visitDashboard(shared.browser, shared.stack, options);
  const { page } = visit;
  const files = {
    'README.md': '# Lamp\n\nA lamp for the desk.\n',
    'docs/guides/paint.md': '# Paint\n\nTwo coats.\nLet them dry.\n',
    'docs/guides/hinges.md': '# Hinges\n\nSteel.\n',
  };
  const toolCalls = Object.entries(files).map(([path, content]) => ({ name: 'write', input: { path, content } }));
  shared.model.script({ toolCalls: [{ name: 'read', input: { path: 'README.md' } }] }, { toolCalls }, finishes(title));
  if (options.width !== undefined) await page.getByRole('button', { name: 'Menu' }).click();
  await startJob(page, title);
  await untilStatus(page, 'completed');
  await page.getByRole('tab', { name: 'Changes' }).click();
  return visit;
}

const file = (page: Page, path: string) => page.getByRole('region', { name: path, exact: true });

async function comment(page: Page, place: string, text: string): Promise<void> {
  await page.getByLabel(`Comment on ${place}`).and(page.getByRole('textbox')).fill(text);
  await page.getByRole('button', { name: 'Add comment' }).click();
}

describe.runIf(chromiumPath !== null)('comments on lines', () => {
  it('are gathered, kept over a reload and sent as one message', { tags: 'slow' }, async () => {
    await using visit = await visitChanges('Paint the lamp');
    const { page } = visit;
    const paint = file(page, 'docs/guides/paint.md');
    await paint.getByRole('button', { name: 'Comment on line 3' }).press('Enter');
    await comment(page, 'line 3', 'Three coats.');
    const readme = file(page, 'README.md');
    await readme.getByRole('button', { name: 'Comment on removed line 3' }).press('Enter');
    await comment(page, 'removed line 3', 'Keep this sentence.');
    await checkLooks(page, 'review-split-light');
    await page.getByRole('button', { name: 'unified' }).click();
    await paint.getByRole('group', { name: /^Your comment on line 3/ }).waitFor();
    await readme.getByRole('group', { name: /^Your comment on removed line 3/ }).waitFor();
    await checkLooks(page, 'review-unified-light');

    // with the mouse only here: before, the page still grows above the line
    await paint.getByRole('button', { name: 'Comment on line 4' }).click();
    await comment(page, 'line 4', 'For how long?');
    await page.reload();
    await paint.getByText('For how long?').waitFor();
    const third = paint.getByRole('group', { name: /^Your comment on line 4/ });
    await third.getByRole('button', { name: 'Delete' }).click();
    await paint.getByText('For how long?').waitFor({ state: 'detached' });
    await paint
      .getByRole('group', { name: /^Your comment on line 3/ })
      .getByRole('button', { name: 'Edit' })
      .click();
    await comment(page, 'line 3', 'Three coats of paint.');

    shared.model.script(finishes('Paint thrice'));
    await page.getByRole('button', { name: 'Send 2 comments to the agent' }).click();
    const said = page.locator('.said', { hasText: 'Comments on lines of your change' });
    await said.waitFor();
    const message = await said.locator('.words').innerText();
    expect(message).toMatch(/^README\.md, removed line 3:\n> - .+\nKeep this sentence\.$/m);
    expect(message).toContain('docs/guides/paint.md, line 3:\n> + Two coats.\nThree coats of paint.');
    expect(message).not.toContain('For how long?');
    await untilStatus(page, 'completed');
    expect(JSON.stringify(shared.model.requests.at(-1)?.body.messages)).toContain('Three coats of paint.');
    await page.getByRole('tab', { name: 'Changes' }).click();
    await paint.waitFor();
    await expect.poll(() => page.getByRole('region', { name: 'Comments for the agent' }).count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('are written with the keyboard alone', { tags: 'slow' }, async () => {
    await using visit = await visitChanges('Paint by keyboard', { colorScheme: 'dark' });
    const { page } = visit;
    const untilFocused = async (target: Locator) => {
      await expect.poll(() => target.evaluate((element) => element === document.activeElement)).toBe(true);
    };
    const tree = page.getByRole('treegrid', { name: 'Changed files' });
    await tree.getByRole('row', { name: 'README.md' }).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    const paint = file(page, 'docs/guides/paint.md');
    await untilFocused(paint);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    for (let line = 1; line <= 3; line += 1) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await untilFocused(page.getByRole('textbox', { name: 'Comment on line 3' }));
    await page.keyboard.type('Which paint?');
    await page.keyboard.press('Control+Enter');
    await paint.getByRole('group', { name: /^Your comment on line 3/ }).waitFor();
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label')))
      .toBe('Comment on line 3');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const editor = page.getByRole('textbox', { name: 'Comment on line 4' });
    await untilFocused(editor);
    await page.keyboard.press('Escape');
    await editor.waitFor({ state: 'detached' });
    await checkLooks(page, 'review-split-dark');
    expect(visit.complaints).toEqual([]);
  });

  it('fit a narrow page', { tags: 'slow' }, async () => {
    await using visit = await visitChanges('Paint on a phone', { width: 390 });
    const { page } = visit;
    const paint = file(page, 'docs/guides/paint.md');
    await paint.getByRole('button', { name: 'Comment on line 3' }).press('Enter');
    await checkLooks(page, 'review-narrow-editor');
    await comment(page, 'line 3', 'Three coats.');
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBe(0);
    await checkLooks(page, 'review-narrow');
  });

  it('cannot be written for an archived job, which says why', { tags: 'slow' }, async () => {
    await using visit = await visitChanges('Paint no more');
    const { page } = visit;
    await file(page, 'README.md').getByRole('button', { name: 'Comment on line 1' }).waitFor();
    await page.getByRole('button', { name: 'Archive', exact: true }).click();
    await page.getByText('You cannot comment on lines. An archived job accepts no messages.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: /^Comment on/ }).count()).toBe(0);
  });
});
