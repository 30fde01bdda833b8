import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { checkLooks, commitOnMain, visitDashboard } from '../../support/browser/dashboard.ts';
import { webhookEventTypes } from '../../../workflows/contract/webhook.ts';
import { startReceiver } from '../webhook-receiver.ts';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStack();

async function showPart(page: Page, part: string): Promise<void> {
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: part }).click();
}

describe.runIf(chromiumPath !== null)('the settings', () => {
  it('show why a webhook could not be delivered, and deliver it again on a click', async () => {
    const { receiver, server } = await startReceiver();
    await using closing = new AsyncDisposableStack();
    closing.defer(() => void server.close());
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await showPart(page, 'Webhooks');
    await page.getByText('New webhook').click();
    await expect
      .poll(() => page.getByRole('group', { name: 'Events' }).locator('label').allInnerTexts())
      .toEqual([...webhookEventTypes]);
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByLabel('Description').fill('Tells the test');
    await page.getByRole('checkbox', { name: 'job.completed' }).press('Space');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    expect(await page.locator('.shown-once code').innerText()).toMatch(/^whsec_/);
    const card = page.getByRole('region', { name: receiver.url });
    await card.getByText('Tells the test').waitFor();
    await card.getByRole('button', { name: 'Ping' }).click();
    const row = card.getByRole('row', { name: /webhook\.ping/ });
    await row.getByText('failed · 500').waitFor();
    await row.getByText('1 attempt').click();
    await row.getByText('so it is').waitFor();
    await checkLooks(page, 'webhook-failed-light');

    receiver.status = 204;
    await row.getByRole('button', { name: 'Redeliver' }).click();
    await row.getByText('delivered · 204').waitFor();
    expect(new Set(receiver.got).size).toBe(1);
    expect(receiver.got.length).toBeGreaterThan(1);

    await card.getByText('Edit', { exact: true }).click();
    await card.getByLabel('Description').fill('Tells the test more');
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText('Tells the test more', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('alertdialog').waitFor();
    await checkLooks(page, 'webhook-delete-light');
    await page.getByRole('button', { name: 'Delete webhook' }).click();
    await card.waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('create and change a project, and accept a token that is never shown', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack, { colorScheme: 'dark' });
    const { page, context } = visit;
    const token = 'ghp_of_the_test_0123456789abcdefghij';
    const answers: string[] = [];
    context.on('response', (response) => {
      if (response.url().includes('/v1/'))
        void response.text().then(
          (text) => answers.push(text),
          () => undefined,
        );
    });
    await showPart(page, 'Projects');
    await page.getByText('New project').click();
    const form = page.locator('details.panel', { hasText: 'New project' });
    await form.getByLabel('Repository').fill('https://github.com/acme/manual');
    await page.getByLabel('Forge token').last().fill(token);
    await page.getByRole('button', { name: 'Create project' }).click();
    const panel = page.locator('details.panel', { hasText: 'https://github.com/acme/manual' });
    await panel.getByText('own forge token').waitFor();
    await panel.locator('summary').first().click();
    await panel.getByLabel('Budget per day (USD)').fill('12.5');
    await panel.getByLabel('Labels, one per line').fill('docs\nagent');
    await panel.getByRole('checkbox', { name: /may run commands/ }).press('Space');
    await panel.getByLabel('Check command').fill('npm test');
    await panel.getByLabel('Websites that agents may fetch').fill('docs.example.com\n*.example.org');
    await panel.getByLabel('Models, one per line').fill('offline/editor\noffline/extract');
    await panel.getByLabel('Reasoning effort').selectOption('high');
    await panel.getByLabel('Output limit (tokens)').fill('16000');
    await panel.getByLabel('Self-review').selectOption('off');
    await panel.getByRole('button', { name: 'Save', exact: true }).click();
    await panel.getByText('Saved.').waitFor();
    await checkLooks(page, 'project-dark');

    await page.reload();
    await panel.locator('summary').first().click();
    expect(await panel.getByLabel('Budget per day (USD)').inputValue()).toBe('12.5');
    expect(await panel.getByLabel('Labels, one per line').inputValue()).toBe('docs\nagent');
    expect(await panel.getByLabel('Websites that agents may fetch').inputValue()).toBe(
      'docs.example.com\n*.example.org',
    );
    expect(await panel.getByRole('checkbox', { name: /may run commands/ }).isChecked()).toBe(false);
    expect(await panel.getByLabel('Models, one per line').inputValue()).toBe('offline/editor\noffline/extract');
    expect(await panel.getByLabel('Reasoning effort').inputValue()).toBe('high');
    expect(await panel.getByLabel('Output limit (tokens)').inputValue()).toBe('16000');
    expect(await panel.getByLabel('Self-review').inputValue()).toBe('off');
    expect(await panel.getByLabel('Forge token').inputValue()).toBe('');
    expect(await page.content()).not.toContain(token);
    await expect.poll(() => answers.join('\n')).toContain('acme/manual');
    expect(answers.join('\n')).not.toContain(token);

    await panel.getByLabel('Instructions for agents').fill('Write plainly.');
    await panel.getByRole('button', { name: 'Add skill' }).click();
    const skill = panel.locator('details.inner', { hasText: 'When it applies' });
    await skill.getByLabel('Name', { exact: true }).fill('release-notes');
    await panel.getByLabel('When it applies').fill('Use for release notes.');
    await panel.getByLabel('What to do, in Markdown').fill('One line per change.');
    await panel.getByRole('button', { name: 'Update instructions' }).click();
    await panel.getByText('Saved.').waitFor();
    await panel.getByRole('button', { name: 'Add MCP server' }).click();
    const server = panel.locator('details.inner', { hasText: 'Authorization header' });
    await server.getByLabel('Name', { exact: true }).fill('docs');
    await panel.getByLabel('URL', { exact: true }).fill('https://mcp.example.com/mcp');
    await panel.getByLabel('Authorization header').fill(`Bearer ${token}`);
    await panel.getByRole('button', { name: 'Add MCP server' }).click();
    const command = panel.locator('details.inner', { hasText: 'Runs' }).last();
    await command.getByLabel('Runs').selectOption('command');
    await command.getByLabel('Name', { exact: true }).fill('tracker');
    await command.getByLabel('Program and arguments').fill('npx\n-y\n@example/tracker mcp');
    await command.getByLabel('Environment variables').fill(`TRACKER_TOKEN=${token}`);
    await panel.getByRole('button', { name: 'Update MCP servers' }).click();
    await panel.getByText('Saved.').nth(1).waitFor();
    await checkLooks(page, 'project-tools-dark');
    await page.reload();
    await panel.locator('summary').first().click();
    await panel.getByText('MCP server docs').click();
    expect(await panel.getByLabel('Authorization header').inputValue()).toBe('');
    await panel.getByText('MCP server tracker').click();
    expect(await panel.getByLabel('Program and arguments').inputValue()).toBe('npx\n-y\n@example/tracker mcp');
    expect(await panel.getByLabel('Environment variables').getAttribute('placeholder')).toMatch(/^TRACKER_TOKEN/);
    await panel.getByText('Skill release-notes').click();
    expect(await panel.getByLabel('When it applies').inputValue()).toBe('Use for release notes.');
    expect(answers.join('\n')).not.toContain(token);

    await panel.getByRole('checkbox', { name: 'Remove the token' }).press('Space');
    await panel.getByRole('button', { name: 'Save', exact: true }).click();
    await panel.getByText('own forge token').waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'New job' }).click();
    await page.getByRole('option', { name: /manual/ }).waitFor({ state: 'attached' });

    await showPart(page, 'Projects');
    await panel.locator('summary').first().click();
    await panel.getByLabel('Repository', { exact: true }).fill('https://github.com/acme/handbook');
    await panel.getByRole('button', { name: 'Save', exact: true }).click();
    const moved = page.locator('details.panel', { hasText: 'https://github.com/acme/handbook' });
    await moved.getByText('Saved.').waitFor();
    await moved.getByRole('button', { name: 'Delete project' }).click();
    await page.getByRole('alertdialog', { name: 'Delete manual?' }).waitFor();
    await checkLooks(page, 'project-delete-dark');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await moved.waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('of the model of a new job are sent with it', { tags: 'slow' }, async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await page.getByRole('link', { name: 'New job' }).click();
    await page.getByLabel('What should change?').fill('Create effort.md with "high"');
    await page.getByText('Model settings').click();
    await page.getByLabel('Fallback models, one per line').fill('offline/extract\noffline/extract');
    await page.getByLabel('Reasoning effort').selectOption('high');
    await page.getByLabel('Output limit (tokens)').fill('999');
    await checkLooks(page, 'new-job-models-light');
    await page.getByRole('button', { name: 'Start job' }).click();
    await page
      .getByRole('alert')
      .getByText(/models.*twice|maxOutputTokens/)
      .waitFor();
    await page.getByLabel('Fallback models, one per line').fill('offline/extract');
    await page.getByLabel('Output limit (tokens)').fill('2000');
    await page.getByRole('button', { name: 'Start job' }).click();
    await page.getByText('offline/editor, then offline/extract').waitFor();
    await page.getByText('offline/editor does not support reasoning effort').first().waitFor();
    await page.getByRole('button', { name: 'Inspect step 1' }).click();
    await page
      .getByRole('complementary', { name: 'Step inspector' })
      .getByText('offline/editor', { exact: true })
      .waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('create, change, index and delete a site', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack, { colorScheme: 'dark' });
    const { page } = visit;
    await showPart(page, 'Sites');
    await page.getByText('New site').click();
    const form = page.locator('details.panel', { hasText: 'New site' });
    await form.getByLabel('Domain').fill('guides');
    await form.getByLabel('Repository').fill(`${shared.stack.home}/repositories/lamp.git`);
    await form.getByLabel('Docs folder').fill('docs/guides');
    await form.getByRole('button', { name: 'Create site' }).click();
    const card = page.getByRole('region', { name: 'guides' });
    await card.getByText('version 1, 5 pages').waitFor();
    await commitOnMain(shared.stack, 'docs/guides/colours.md', '# Colours\n\nA lamp has sixteen colours.\n');
    await card.getByRole('button', { name: 'Re-index' }).click();
    await card.getByText('version 2, 6 pages').waitFor();

    await card.getByText('Edit', { exact: true }).click();
    await card.getByLabel('Docs folder').fill('docs/reference');
    await card.getByLabel('Keep conversations for (days)').fill('7');
    await card.getByLabel('Budget for answers per day (USD)').fill('2.5');
    await card.getByLabel('Instructions').fill('Answer in one sentence.');
    await card.getByLabel('Starter questions').fill('How many colours has a lamp?\nWhich lamps are there?');
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText('version 3, 2 pages').waitFor();
    await card.getByText('7 days').waitFor();
    await checkLooks(page, 'site-dark');

    await card.getByLabel('Docs folder').fill('no-such-folder');
    await card.getByRole('button', { name: 'Save' }).click();
    await card.getByText('last index failed').waitFor();
    await card.getByRole('button', { name: 'Delete site' }).click();
    await page.getByRole('alertdialog').waitFor();
    await checkLooks(page, 'site-delete-dark');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await card.waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('show a key with its expiry and its last use, next to the ids of projects', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    const { baseUrl, projectId } = shared.stack.localJson;
    await showPart(page, 'API keys');
    await page.getByRole('group', { name: 'Identifiers' }).getByText(projectId).waitFor();
    await page.getByText('New key').click();
    await page.getByLabel('Kind').selectOption('admin');
    await page.getByLabel('Name').fill('of the ledger');
    await page.getByLabel('Expires after (days)').fill('30');
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = await page.locator('.shown-once code').innerText();
    await checkLooks(page, 'key-made-light');
    const row = page.getByRole('row', { name: /of the ledger/ });
    await row.getByText(/^expires \d+ \w+ \d{4}$/).waitFor();
    const own = page.getByRole('row', { name: /this session/ });
    await own.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('You are signed in with this key').waitFor();
    await page.getByRole('button', { name: 'Go back' }).click();
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Requests with this key are rejected immediately.').waitFor();
    expect(await page.getByText('You are signed in with this key').count()).toBe(0);
    await page.getByRole('button', { name: 'Go back' }).click();
    await row.getByText('never').waitFor();
    const site = page.getByRole('row', { name: /assistant/ }).first();
    await site.getByText('Any website').click();
    await site
      .getByRole('textbox', { name: 'Allowed websites' })
      .fill('https://docs.example.com\nhttps://*.example.org');
    await site.getByText('Also allow requests from no website').click();
    await checkLooks(page, 'key-origins-light');
    await site.getByRole('button', { name: 'Save' }).click();
    await site.getByText('https://docs.example.com, https://*.example.org', { exact: true }).waitFor();
    const used = await fetch(`${baseUrl}/v1/jobs`, { headers: { authorization: `Bearer ${key}` } });
    expect(used.status).toBe(200);
    // the use of a key is stored every few seconds
    await expect.poll(async () => (await page.reload(), row.waitFor(), row.getByText('never').count())).toBe(0);
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('alertdialog', { name: 'Revoke of the ledger?' }).waitFor();
    await checkLooks(page, 'key-revoke-light');
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await row.getByText('revoked').waitFor();

    await showPart(page, 'Log');
    await page
      .getByRole('row', { name: /key\.revoke/ })
      .first()
      .waitFor();
    await checkLooks(page, 'log-light');
  });
});
