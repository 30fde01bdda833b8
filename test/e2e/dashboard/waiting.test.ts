import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { answerOf, createApi, type Api } from '../../../cli/http/api.ts';
import { seriousProblems, untilStatus, visitDashboard } from '../../support/browser/dashboard.ts';
import { chromiumPath, dashboardStackWithModel } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStackWithModel();
let api: Api;

beforeAll(() => {
  if (chromiumPath === null) return;
  const { baseUrl, adminKey } = shared.stack.localJson;
  api = createApi({ baseUrl, key: adminKey });
});

const finish = (title: string, summary: string) => ({ toolCalls: [{ name: 'finish', input: { title, summary } }] });

/** Creates a job and opens its page. */
async function openJob(page: Page, body: { prompt: string; plan?: 'review'; ask?: boolean }): Promise<string> {
  const { baseUrl, projectId } = shared.stack.localJson;
  const params = { path: { projectId } };
  const { id } = await answerOf(api.POST('/v2/agent/{projectId}/job', { params, body }));
  await page.goto(`${baseUrl}/jobs/${projectId}/${id}`);
  return id;
}

const lastPrompt = () => JSON.stringify(shared.model.requests.at(-1)?.body.messages);

describe.runIf(chromiumPath !== null)('a job that waits', () => {
  it('shows its plan, and goes on once it is approved', { tags: 'slow' }, async () => {
    const { browser, stack, model } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    model.script(finish('Describe the paint', 'I would write `docs/guides/paint.md`.'));
    await openJob(page, { prompt: 'Describe the paint.', plan: 'review' });
    const waiting = page.getByRole('region', { name: 'Waiting' });
    await waiting.getByRole('heading', { name: 'Plan awaiting approval' }).waitFor();
    await waiting.getByText('docs/guides/paint.md').waitFor();
    await waiting.getByText(/^Waiting for .+, who started the job\./).waitFor();
    await page.locator('.page-head .badge', { hasText: 'waiting' }).waitFor();
    expect(await seriousProblems(page)).toEqual([]);

    model.script(
      { toolCalls: [{ name: 'write', input: { path: 'docs/guides/paint.md', content: '# Paint\n' } }] },
      finish('Describe the paint', 'Done.'),
    );
    await waiting.getByLabel('Comment').fill('Two coats, please.');
    await page.reload();
    await waiting.getByRole('button', { name: 'Approve' }).click();
    await waiting.waitFor({ state: 'detached' });
    await untilStatus(page, 'completed');
    expect(lastPrompt()).toContain('Two coats, please.');
    expect([...visit.complaints, ...model.violations]).toEqual([]);
  });

  it('ends when its plan is rejected, with the reason', { tags: 'slow' }, async () => {
    const { browser, stack, model } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    model.script(finish('Delete the guides', 'I would delete all guides.'));
    await openJob(page, { prompt: 'Tidy up.', plan: 'review' });
    const waiting = page.getByRole('region', { name: 'Waiting' });
    await waiting.getByLabel('Comment').fill('Keep the guides.');
    await waiting.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('button', { name: 'Reject the plan' }).click();
    await untilStatus(page, 'failed');
    await page.getByText('Keep the guides.').first().waitFor();
    expect([...visit.complaints, ...model.violations]).toEqual([]);
  });

  it('takes one of the suggested answers to its question', { tags: 'slow' }, async () => {
    const { browser, stack, model } = shared;
    await using visit = await visitDashboard(browser, stack, { colorScheme: 'dark' });
    const { page } = visit;
    const input = { question: 'Which **color**?', choices: ['red', 'green'] };
    model.script({ toolCalls: [{ name: 'ask', input }] });
    await openJob(page, { prompt: 'Paint the lamp.', ask: true });
    const waiting = page.getByRole('region', { name: 'Waiting' });
    await waiting.getByRole('heading', { name: 'The agent has a question' }).waitFor();
    await page.locator('.turn-head', { hasText: 'Turn 1' }).getByText('waiting', { exact: true }).waitFor();
    await waiting.locator('strong', { hasText: 'color' }).waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    model.script(finish('Nothing to paint', 'Green it is.'));
    await waiting.getByRole('button', { name: 'green' }).click();
    await waiting.waitFor({ state: 'detached' });
    await untilStatus(page, 'completed');
    expect(lastPrompt()).toContain('green');
    expect([...visit.complaints, ...model.violations]).toEqual([]);
  });
});

describe.runIf(chromiumPath !== null)('an answer', () => {
  it('to a question that somebody else has answered is not sent as the next one', { tags: 'slow' }, async () => {
    const { browser, stack, model } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    const ask = (question: string) => ({ toolCalls: [{ name: 'ask', input: { question } }] });
    model.script(ask('Keep the old API?'), ask('Delete the data?'));
    const id = await openJob(page, { prompt: 'Clean up.', ask: true });
    const waiting = page.getByRole('region', { name: 'Waiting' });
    await waiting.getByText('Keep the old API?').waitFor();
    const field = page.getByLabel('Message the agent');
    await field.fill('Yes');
    const path = { projectId: stack.localJson.projectId, id };
    const body = { prompt: 'No', turn: 1 };
    await answerOf(api.POST('/v2/agent/{projectId}/job/{id}/message', { params: { path }, body }));
    await waiting.getByText('Delete the data?').waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('The job has changed since you read it').waitFor();
    expect(lastPrompt()).not.toContain('Yes');

    model.script(finish('Nothing to do', 'Nothing.'));
    await field.fill('Never');
    await page.getByRole('button', { name: 'Send' }).click();
    await untilStatus(page, 'completed');
    expect(lastPrompt()).toContain('Never');
    // the browser names the refused request
    expect(visit.complaints.filter((text) => !text.includes('409'))).toEqual([]);
    expect(model.violations).toEqual([]);
  });
});

describe.runIf(chromiumPath !== null)('the setup of a project', () => {
  it('has secrets that are listed by name and never shown', { tags: 'slow' }, async () => {
    const { browser, stack } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    const panel = page.locator('details.panel').first();
    const open = async () => {
      await page.goto(`${stack.localJson.baseUrl}/settings/projects`);
      await panel.locator('summary').first().click();
      await panel.getByRole('heading', { name: 'Setup secrets' }).waitFor();
    };
    await open();
    await panel.getByLabel('Name', { exact: true }).last().fill('REGISTRY_TOKEN');
    await panel.getByLabel('Value').fill('of-the-registry');
    await panel.getByRole('button', { name: 'Save secret' }).click();
    const listed = panel.locator('code', { hasText: 'REGISTRY_TOKEN' });
    await listed.waitFor();
    expect(await panel.getByLabel('Value').inputValue()).toBe('');
    await open();
    await listed.waitFor();
    expect(await page.content()).not.toContain('of-the-registry');

    await listed.locator('..').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
    await listed.waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('prints into the page of a job while it runs', { tags: 'slow' }, async () => {
    const { browser, stack, model, pool } = shared;
    await using visit = await visitDashboard(browser, stack);
    const { page } = visit;
    const params = { path: { id: stack.localJson.projectId } };
    const environment = 'setup: for part in 1 2 3 4 5 6 7 8; do echo "installing part $part"; sleep 1; done\n';
    await answerOf(api.PATCH('/v1/projects/{id}', { params, body: { environment } }));
    model.script(finish('Nothing to do', 'Nothing.'));
    const id = await openJob(page, { prompt: 'Look around.' });
    const setup = page.getByRole('region', { name: 'Setup' });
    await setup.getByText('installing part 2').waitFor();
    // what a person should know about a turn is in its conversation, at once and later
    await pool.query(
      `select append_job_events($1, 1, null, '[{"type": "notice", "data": {"text": "Commands cannot run here."}}]')`,
      [id],
    );
    const notice = page.locator('.notice', { hasText: 'Commands cannot run here.' });
    await notice.waitFor();
    await untilStatus(page, 'completed');
    await setup.waitFor({ state: 'detached' });
    await page.reload();
    await notice.waitFor();
    await answerOf(api.PATCH('/v1/projects/{id}', { params, body: { environment: null } }));
    expect([...visit.complaints, ...model.violations]).toEqual([]);
  });
});
