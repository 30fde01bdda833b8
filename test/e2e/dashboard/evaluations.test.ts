import { describe, expect, it } from 'vitest';
import { checkLooks, visitDashboard } from '../../support/browser/dashboard.ts';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStack();

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
    await form.getByLabel('Query rewriting').selectOption('By a model');
    await form.getByLabel('Rewriting model').waitFor();
    await form.getByLabel('Query rewriting').selectOption('Off');
    await form.getByLabel('Rewriting model').waitFor({ state: 'detached' });
    const instructions = form.getByLabel('Instructions', { exact: true });
    await instructions.selectOption('Other');
    await form.getByLabel('Other instructions').fill('Be brief.');
    await checkLooks(page, 'evaluation-form');
    await instructions.selectOption('None');
    const sent = page.waitForRequest(
      (request) => request.method() === 'POST' && request.url().endsWith('/evaluations'),
    );
    await form.getByRole('button', { name: 'Evaluate' }).click();
    expect((await sent).postDataJSON().configurations).toEqual([
      {},
      { retrievalPageSize: 2, queryRewriting: null, instructions: null },
    ]);
    await page.waitForURL(/id=eval_/);
    await page.getByRole('heading', { name: 'Basics: completed' }).waitFor();
    await page.getByText('The difference is not significant.').waitFor();
    const sides = page.getByRole('group', { name: 'Configurations' });
    await sides.getByRole('row', { name: /^First offline\/extract 5 / }).waitFor();
    await sides.getByRole('row', { name: /^Second offline\/extract 2 / }).waitFor();
    const results = page.getByRole('group', { name: 'Results by question' });
    await results.locator('summary').first().click();
    await results.locator('.words').first().waitFor();
    await expect.poll(() => results.getByText('failed', { exact: true }).count()).toBe(2);
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await checkLooks(page, `evaluations-${scheme}`);
    }
    await page.getByRole('button', { name: 'Edit Basics' }).click();
    const first = page.getByRole('group', { name: 'Question 1' });
    await first.getByLabel('Expected pages').fill('guides/scenes\nguides/lamps');
    await first.getByLabel('Expected facts').fill('lamp run');
    const second = page.getByRole('group', { name: 'Question 2' });
    await second.getByText('The documentation should answer it').click();
    await checkLooks(page, 'questions-dark');
    await page.getByRole('button', { name: 'Add question' }).click();
    await page
      .getByRole('group', { name: 'Question 3' })
      .getByLabel('Question', { exact: true })
      .fill('And now\nafter it?');
    await second.getByRole('button', { name: 'Remove question' }).click();
    await page.getByRole('button', { name: 'Save questions' }).click();
    await page
      .getByRole('row', { name: /Basics/ })
      .getByRole('cell', { name: '2', exact: true })
      .waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Edit Basics' }).click();
    await first.waitFor();
    expect(await first.getByLabel('Expected pages').inputValue()).toBe('guides/scenes\nguides/lamps');
    expect(await first.getByLabel('Expected facts').inputValue()).toBe('lamp run');
    expect(await second.getByLabel('Question', { exact: true }).inputValue()).toBe('And now\nafter it?');
    expect(await page.getByRole('group', { name: /^Question \d/ }).count()).toBe(2);
    expect(visit.complaints).toEqual([]);

    // someone else saves the set while it is edited here
    const facts = first.getByLabel('Expected facts');
    await facts.fill('mine');
    await shared.pool.query(
      `update question_sets set updated_at = now(), questions = jsonb_set(questions, '{0,expectedFacts}', '["theirs"]')
       where site_id in (select sites.id from sites join projects using (organization_id) where projects.id = $1)`,
      [stack.localJson.projectId],
    );
    await page.getByRole('button', { name: 'Save questions' }).click();
    await page.getByText('The question set has changed since it was read.').waitFor();
    expect(await facts.inputValue()).toBe('mine');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await expect.poll(() => facts.inputValue()).toBe('theirs');
  });
});
