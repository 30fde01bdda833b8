import { describe, expect, it } from 'vitest';
import { chromiumPath, dashboardStack, expireSessions } from '../../support/browser/dashboard-of-file.ts';
import { checkLooks, visitDashboard } from '../../support/browser/dashboard.ts';

const shared = dashboardStack();

describe.runIf(chromiumPath !== null)('a form of the settings', () => {
  it('keeps what was typed, except for secrets, until it is sent or discarded', { tags: 'slow' }, async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    const { baseUrl, projectId, adminKey } = shared.stack.localJson;
    const parts = page.getByRole('navigation', { name: 'Settings' });
    await page.goto(`${baseUrl}/settings/projects`);
    const panel = page.locator('details.panel', { hasText: 'lamp.git' });
    await panel.waitFor();
    expect(await panel.locator('form').count()).toBe(0);
    await panel.locator('summary').first().click();
    const check = panel.getByLabel('Check command');
    await check.fill('npm run check');
    await panel.getByRole('button', { name: 'Add MCP server' }).click();
    await panel.getByLabel('URL', { exact: true }).fill('https://mcp.example.com/mcp');
    await panel.getByLabel('Authorization header').fill('Bearer of-the-test');
    await parts.getByRole('link', { name: 'Sites' }).click();
    expect(await page.evaluate(() => sessionStorage.getItem('docket-drafts'))).not.toContain('of-the-test');
    await page.getByText('New site').click();
    await page.getByLabel('Domain').fill('half-typed');
    await parts.getByRole('link', { name: 'Projects' }).click();
    await expect.poll(() => check.inputValue()).toBe('npm run check');
    // another person changes what was not typed here
    await fetch(`${baseUrl}/v1/projects/${projectId}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ labels: ['docs'] }),
    });
    await page.reload();
    await expect.poll(() => panel.getByLabel('Labels, one per line').inputValue()).toBe('docs');
    expect(await check.inputValue()).toBe('npm run check');
    await expect.poll(() => panel.getByLabel('URL', { exact: true }).inputValue()).toBe('https://mcp.example.com/mcp');
    expect(await panel.getByLabel('Authorization header').inputValue()).toBe('');
    await checkLooks(page, 'project-draft-light');
    await panel.getByRole('button', { name: 'Discard changes' }).last().click();
    await panel.getByLabel('URL', { exact: true }).waitFor({ state: 'detached' });

    await expireSessions(shared);
    await panel.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByLabel('Admin key').fill(adminKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(() => check.inputValue()).toBe('npm run check');
    const save = panel.getByRole('button', { name: 'Save', exact: true });
    await save.press('Enter');
    await panel.getByText('Saved.').waitFor();
    expect(await save.evaluate((button) => button === document.activeElement)).toBe(true);
    await parts.getByRole('link', { name: 'Sites' }).click();
    expect(await page.getByLabel('Domain').inputValue()).toBe('half-typed');
    await page.getByRole('button', { name: 'Discard changes' }).press('Enter');
    expect(await page.getByLabel('Domain').inputValue()).toBe('');
    const create = page.getByRole('button', { name: 'Create site' });
    expect(await create.evaluate((button) => button === document.activeElement)).toBe(true);
    expect(visit.complaints).toEqual([]);
  });

  it('says at a field what the API refused about it, and can be sent again', { tags: 'slow' }, async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack, { colorScheme: 'dark' });
    const { page } = visit;
    await page.goto(`${shared.stack.localJson.baseUrl}/settings/projects`);
    await page.getByText('New project').click();
    const form = page.locator('details.panel', { hasText: 'New project' });
    await form.getByLabel('Repository').fill('https://github.com/acme/guide');
    await form.getByText('Settings', { exact: true }).click();
    const limit = form.getByLabel('Output limit (tokens)');
    await limit.fill('1');
    await form.getByText('Settings', { exact: true }).click();
    const create = form.getByRole('button', { name: 'Create project' });
    await create.click();
    await expect.poll(() => limit.evaluate((field) => field === document.activeElement)).toBe(true);
    expect(await limit.getAttribute('aria-invalid')).toBe('true');
    const described = (await limit.getAttribute('aria-describedby'))?.split(' ') ?? [];
    const texts = await page.evaluate((ids) => ids.map((id) => document.getElementById(id)?.textContent), described);
    expect(texts).toContainEqual(expect.stringMatching(/^Must be at least /));
    expect(await form.getByRole('alert').count()).toBe(0);
    await checkLooks(page, 'project-refused-dark');
    const [again] = await Promise.all([
      page.waitForResponse((response) => response.request().method() === 'POST'),
      create.click(),
    ]);
    expect(again.status()).toBe(400);
    await limit.fill('2000');
    expect(await limit.getAttribute('aria-invalid')).toBeNull();
    await create.click();
    await page.locator('details.panel', { hasText: 'acme/guide' }).first().waitFor();
    expect(visit.complaints).toEqual([]);
  });
});
