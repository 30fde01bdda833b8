import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import {
  checkLooks,
  commitOnMain,
  mergePull,
  startJob,
  untilStatus,
  visitDashboard,
} from '../../support/browser/dashboard.ts';
import { runTestGit } from '../../support/git-repository.ts';
import { chromiumPath, dashboardStackWithModel } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStackWithModel();

/** Lets the agent of the next job write a file and finish. */
function writes(path: string, content: string, title: string): void {
  shared.model.script(
    { toolCalls: [{ name: 'write', input: { path, content } }] },
    { toolCalls: [{ name: 'finish', input: { title, summary: `${title}.` } }] },
  );
}

/** The prompt of the agent's last job. */
function lastPrompt(): string {
  const said = shared.model.requests.at(-1)?.body.messages.filter(({ role }) => role === 'user') ?? [];
  return JSON.stringify(said);
}

function git(...args: string[]): Promise<string> {
  const repository = `${shared.stack.home}/repositories/lamp.git`;
  return runTestGit(['--git-dir', repository, ...args], { cwd: shared.stack.home });
}

/** Asks in the playground, in a new conversation, and returns once the answer is complete. */
async function askAsReader(page: Page, question: string): Promise<Locator> {
  await page.goto(`${shared.stack.localJson.baseUrl}/playground`);
  await page.getByText('Reader context').click();
  await page.getByRole('checkbox', { name: /conversations and gaps/ }).press('Space');
  await page.getByRole('textbox', { name: 'Question' }).fill(question);
  await page.getByRole('button', { name: 'Ask', exact: true }).click();
  await page.getByRole('group', { name: 'Did this answer help?' }).waitFor();
  return page.getByRole('article', { name: 'Answer' });
}

describe.runIf(chromiumPath !== null)('a question that the documentation does not answer', () => {
  const missed = 'Is there a mobile app for Android?';
  const hopeless = 'Which paint suits the gearbox?';

  it('becomes a gap, a job, a merged change and an answer; one that remains unanswered is shown as such', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    for (const question of [missed, hopeless]) {
      const answer = await askAsReader(page, question);
      expect(await answer.innerText()).toContain('I could not find this in the documentation.');
    }
    await page.getByRole('group', { name: 'Did this answer help?' }).getByRole('button', { name: 'No' }).click();
    const why = page.getByRole('form', { name: 'What is wrong?' });
    await why.getByRole('checkbox', { name: 'it does not answer the question' }).press('Space');
    await why.getByRole('textbox', { name: 'What is missing or wrong?' }).fill('The paint, and how many coats.');
    await checkLooks(page, 'feedback-light');
    await why.getByRole('button', { name: 'Send' }).click();
    await why.waitFor({ state: 'detached' });

    await page.getByRole('link', { name: 'Conversations' }).click();
    await page.getByRole('button', { name: 'not helpful' }).click();
    await page.locator('summary', { hasText: hopeless }).click();
    await page.getByText('does not answer the question. "The paint, and how many coats."').waitFor();
    await checkLooks(page, 'conversation-light');

    await page.getByRole('link', { name: 'Gaps' }).click();
    await page.getByRole('region', { name: hopeless }).getByRole('link', { name: 'Conversations' }).click();
    await page.locator('summary', { hasText: hopeless }).waitFor();
    await expect.poll(() => page.locator('summary', { hasText: missed }).count()).toBe(0);

    const written = '# Mobile app\n\nThere is a mobile app for Android. It finds the lamps by itself.\n';
    writes('docs/guides/mobile-app.md', written, 'Describe the mobile app');
    await closeGap(page, missed);
    expect(lastPrompt()).toContain(missed);
    expect(await git('show', 'main:docs/guides/mobile-app.md')).toContain('mobile app for Android');
    const answered = page.getByRole('region', { name: missed });
    await answered.getByText('answered', { exact: true }).first().waitFor();
    await expect.poll(() => answered.locator('.questions').innerText()).toMatch(/\banswered\b/);

    writes('docs/guides/hinges.md', '# Hinges\n\nA hinge of the case is steel.\n', 'Describe the hinges');
    await closeGap(page, hopeless);
    const unanswered = page.getByRole('region', { name: hopeless });
    await unanswered.getByText('still unanswered').waitFor();
    await expect.poll(() => unanswered.locator('.questions').innerText()).toContain('unanswered');
    await expect.poll(() => unanswered.getByRole('button', { name: 'Create another job' }).isEnabled()).toBe(true);
    await checkLooks(page, 'gaps-light');

    // a site that cannot be indexed is not asked again, and the page says so
    await setPages('no-such-folder');
    await page.getByRole('region', { name: missed }).getByRole('button', { name: 'Ask again' }).click();
    await page.getByRole('alert').getByText('The site could not be indexed').waitFor();
    await checkLooks(page, 'gaps-not-indexed-light');
    await setPages('docs');
    await answered.getByText('answered', { exact: true }).first().waitFor();

    await unanswered.getByRole('button', { name: 'Dismiss' }).click();
    await unanswered.waitFor({ state: 'detached' });
    // the focus goes to the gap beside it
    await expect.poll(() => page.evaluate(() => document.activeElement?.matches('.gap h2'))).toBe(true);
    await page.getByRole('button', { name: 'dismissed 1' }).click();
    await unanswered.getByText('dismissed', { exact: true }).waitFor();
    await checkLooks(page, 'gaps-dismissed-light');
    await unanswered.getByRole('button', { name: 'Restore' }).click();
    await page.getByText('No dismissed gaps').waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('dismissed 0');
    await page.getByRole('button', { name: 'current 2' }).click();
    await unanswered.getByText('still unanswered').waitFor();

    const now = await askAsReader(page, missed);
    await now.getByRole('link', { name: 'Mobile app' }).first().waitFor();
    expect(shared.model.violations).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });
});

/** The base URL of the site's pages from now on. */
async function setPages(path: string): Promise<void> {
  const { baseUrl, domain, adminKey } = shared.stack.localJson;
  const changed = await fetch(`${baseUrl}/v1/sites/${domain}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ path }),
  });
  expect(changed.status).toBe(200);
}

/** Creates a job for a gap with one click, merges its pull request, and returns to the gaps. */
async function closeGap(page: Page, question: string): Promise<void> {
  await page.getByRole('link', { name: 'Gaps' }).click();
  const gap = page.getByRole('region', { name: question });
  await gap.getByText('open', { exact: true }).waitFor();
  await gap.getByRole('button', { name: 'Create job' }).click();
  await gap.getByRole('link', { name: 'Pull request' }).click();
  await page.waitForURL(/\/pulls\/pr_\w+/);
  await mergePull(page);
  await page.getByText('Merged into main').waitFor();
  await page.getByRole('link', { name: 'Gaps' }).click();
}

describe.runIf(chromiumPath !== null)('the playground', () => {
  it('sends the reader’s current page, and shows sources and scored passages that link to pages', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack, { colorScheme: 'dark' });
    const { page, context } = visit;
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByText('Reader context').click();
    await page.getByLabel('Current page').fill('/guides/scenes');
    await page.getByLabel('Context').selectOption('code');
    await page.getByLabel('Selected text').fill('lamp scene run evening');
    await page.getByRole('textbox', { name: 'Question' }).fill('What can a scene hold?');
    const sent = page.waitForRequest(/\/discovery\/v2\/assistant\/.*\/message$/);
    await page.getByRole('textbox', { name: 'Question' }).press('Enter');
    expect((await sent).postDataJSON()).toMatchObject({
      fp: 'playground',
      currentPath: '/guides/scenes',
      context: [{ type: 'code', value: 'lamp scene run evening' }],
    });
    await page.getByRole('group', { name: 'Did this answer help?' }).waitFor();
    expect(Number(await page.locator('.passage-score').first().innerText())).toBeGreaterThan(0);
    await page.locator('.passage summary', { hasText: 'Scenes › Run a scene' }).click();
    await checkLooks(page, 'playground-dark');

    // the site has no published address: its links lead to its pages as they were indexed
    const link = page.locator('.docket-answer .docket-markdown a').first();
    const words = await link.innerText();
    const opened = context.waitForEvent('page');
    await link.click();
    const shown = await opened;
    expect(words).toContain(' › ');
    await shown.getByRole('heading', { name: words.split(' › ')[0], exact: true, level: 3 }).waitFor();
    await expect.poll(() => shown.locator('[data-sought]').innerText()).toBe(words.split(' › ')[1]);
    for (const anchor of await page.locator('main a').all()) {
      expect(await anchor.getAttribute('href')).toMatch(
        /^\/playground\/page\?site=\w+&path=[\w%-]+(?:#[\w-]*(?::~:text=[^#]+)?)?$/,
      );
    }
    await checkLooks(shown, 'site-page-dark');
    expect(visit.complaints).toEqual([]);
  });

  it('links to the published site if its address is known', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await page.goto(`${shared.stack.localJson.baseUrl}/settings/sites`);
    const card = page.getByRole('region', { name: shared.stack.localJson.domain });
    await card.getByText('Edit', { exact: true }).click();
    await card.getByLabel('Published URL').fill('https://docs.example.com/lamp');
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Saved.').waitFor();
    await card.getByRole('link', { name: 'Ask' }).click();
    await page.getByRole('heading', { name: 'Playground' }).waitFor();
    await page.getByRole('textbox', { name: 'Question' }).fill('What can a scene hold?');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('group', { name: 'Did this answer help?' }).waitFor();
    await page.locator('.docket-answer .docket-markdown a').first().waitFor();
    for (const link of await page.locator('.docket-answer a').all()) {
      expect(await link.getAttribute('href')).toMatch(/^https:\/\/docs\.example\.com\/lamp\//);
    }
    await expect.poll(() => page.locator('a.docket-source').count()).toBeGreaterThan(0);
  });
});

describe.runIf(chromiumPath !== null)('a pull request of the local forge', () => {
  async function openPull(page: Page, path: string): Promise<void> {
    writes(path, 'ours\n', `Write ${path}`);
    await startJob(page, `Write ${path}`);
    await untilStatus(page, 'completed');
    await page.getByRole('link', { name: 'View' }).click();
    await page.getByRole('heading', { name: `Write ${path}` }).waitFor();
  }

  it('reports a conflict, and is merged once the conflict is gone', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack, { colorScheme: 'dark' });
    const { page } = visit;
    await openPull(page, 'clash.txt');
    expect(await page.getByRole('region', { name: 'Description' }).innerText()).toContain('Write clash.txt');
    await page.locator('.commits li', { hasText: 'Write clash.txt' }).waitFor();
    await page.getByRole('region', { name: 'clash.txt' }).waitFor();
    await page.getByText('No conflicts with main').waitFor();
    await commitOnMain(shared.stack, 'clash.txt', 'theirs\n');
    await page.reload();
    await page.getByText('Conflicts with main.').waitFor();
    await page.getByRole('list', { name: 'Files with conflicts' }).getByText('clash.txt').waitFor();
    expect(await page.getByRole('button', { name: 'Merge', exact: true }).isDisabled()).toBe(true);
    await checkLooks(page, 'pull-conflict-dark');
    const pull = page.url();
    shared.model.script(
      { toolCalls: [{ name: 'write', input: { path: 'clash.txt', content: 'ours and theirs\n' } }] },
      { toolCalls: [{ name: 'finish', input: { title: 'Resolve', summary: 'Resolved.' } }] },
    );
    await page.getByRole('button', { name: 'Ask the agent to resolve' }).click();
    await page.locator('.said', { hasText: 'cannot be merged into main' }).waitFor();
    await untilStatus(page, 'completed');
    expect(lastPrompt()).toContain('changes the same lines as main');
    await page.goto(pull);

    await mergePull(page);
    await page.locator('.merge-merged').waitFor();
    expect(await git('show', 'main:clash.txt')).toContain('ours and theirs');
    await checkLooks(page, 'pull-merged-dark');
  });

  it('is closed without being merged', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await openPull(page, 'unwanted.txt');
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Close the pull request' }).click();
    await page.getByText('Closed without merging by npm start.').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Merge', exact: true }).count()).toBe(0);
    await expect(git('show', 'main:unwanted.txt')).rejects.toThrow('unwanted.txt');
    expect(visit.complaints).toEqual([]);
  });
});
