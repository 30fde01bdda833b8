import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { mergePull, visitDashboard } from '../../support/browser/dashboard.ts';
import { chromiumPath, dashboardStackWithModel } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStackWithModel();

/** Lets the agent write a file and finish. */
function writes(path: string, content: string): void {
  shared.model.script(
    { toolCalls: [{ name: 'write', input: { path, content } }] },
    { toolCalls: [{ name: 'finish', input: { title: `Write ${path}`, summary: 'Written.' } }] },
  );
}

async function untilCompleted(page: Page): Promise<void> {
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByRole('heading', { name: 'Completed', exact: true }).waitFor();
}

async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
}

const question = 'Is there a mobile app for Android?';

// finds everything by the labels and roles that a person meets, never by a selector or an address
describe.runIf(chromiumPath !== null)('a person who knows only what the pages say', () => {
  it('does ten tasks', { tags: 'slow' }, async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack, { width: 1440 });
    const { page } = visit;
    const prompt = page.getByLabel('What should change?');
    const start = page.getByRole('button', { name: 'Start job' });

    // 1: create a job, which fails
    await goTo(page, 'New job');
    await prompt.fill('Describe the paint');
    await page.getByLabel('Branch, tag or commit').fill('no-such-branch');
    await start.click();

    // 2: understand why
    const result = page.getByRole('region', { name: 'Result' });
    await result.getByText('“Retry with…” opens the form of the job, where you can change the base branch.').waitFor();

    // 3: retry it
    writes('docs/guides/paint.md', '# Paint\n\nTwo coats.\n');
    await result.getByRole('link', { name: 'Retry' }).click();
    await page.getByLabel('Branch, tag or commit').fill('');
    expect(await prompt.inputValue()).toBe('Describe the paint');
    await start.click();

    // 4: watch it
    await page.getByRole('heading', { name: 'Step 1' }).waitFor();
    await untilCompleted(page);

    // 5: fork it from a step
    const job = page.url();
    writes('docs/guides/varnish.md', '# Varnish\n\nOne coat.\n');
    await page.getByRole('button', { name: 'Fork from step 1' }).click();
    await page.getByLabel('Instructions (optional)').fill('Describe the varnish, too');
    await page.getByRole('button', { name: 'Fork the job' }).click();
    await page.getByText('step 1 of another job').waitFor();
    expect(page.url()).not.toBe(job);
    await untilCompleted(page);

    // 6: review it with comments on lines
    await page.getByRole('tab', { name: 'Changes' }).click();
    const varnish = page.getByRole('region', { name: 'docs/guides/varnish.md' });
    // by key: the page still grows above the line
    await varnish.getByRole('button', { name: 'Comment on line 3' }).press('Enter');
    await page.getByRole('textbox', { name: 'Comment on line 3' }).fill('Two coats of varnish.');
    await page.getByRole('button', { name: 'Add comment' }).click();
    writes('docs/guides/varnish.md', '# Varnish\n\nTwo coats.\n');
    await page.getByRole('button', { name: 'Send 1 comment to the agent' }).click();
    await page.getByRole('region', { name: 'Turn 2' }).getByText('Two coats of varnish.').waitFor();
    await untilCompleted(page);

    // 7: merge it, from the list of pull requests
    await goTo(page, 'Pull requests');
    await page.getByRole('button', { name: /^open/ }).click();
    await page.getByRole('link', { name: 'Write docs/guides/varnish.md' }).click();
    await page.getByRole('heading', { name: 'Write docs/guides/varnish.md' }).waitFor();
    await mergePull(page);
    await page.getByText('Merged into main').waitFor();

    // 8: find a gap in the documentation
    await goTo(page, 'Playground');
    await page.getByText('Reader context').click();
    await page.getByRole('checkbox', { name: /conversations and gaps/ }).press('Space');
    await page.getByRole('textbox', { name: 'Question' }).fill(question);
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page
      .getByRole('article', { name: 'Answer' })
      .getByText('I could not find this in the documentation.')
      .waitFor();
    await goTo(page, 'Gaps');
    const gap = page.getByRole('region', { name: question });
    await gap.getByText('open', { exact: true }).waitFor();

    // 9: close it
    writes('docs/guides/app.md', '# Mobile app\n\nThere is a mobile app for Android.\n');
    await gap.getByRole('button', { name: 'Create job' }).click();
    await gap.getByRole('link', { name: 'Pull request' }).click();
    await mergePull(page);
    await page.getByText('Merged into main').waitFor();
    await goTo(page, 'Gaps');
    await gap.getByText('answered', { exact: true }).first().waitFor();

    // 10: revoke a key
    await goTo(page, 'Settings');
    await page.getByText('New key', { exact: true }).click();
    const form = page.getByRole('form', { name: 'New key' });
    await form.getByLabel('Name').fill('old website');
    await form.getByRole('button', { name: 'Create key' }).click();
    const key = page.getByRole('row', { name: /old website/ });
    await key.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await key.getByText('revoked').waitFor();

    expect(shared.model.violations).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });
});
