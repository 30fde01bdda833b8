import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { checkLooks, problemsFor, startJob, visitDashboard } from '../../support/browser/dashboard.ts';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';
import { buildKey, buildProject } from '../../support/database/build.ts';

const shared = dashboardStack();

async function showSettings(page: Page, part: string): Promise<void> {
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: part }).click();
}

describe.runIf(chromiumPath !== null)('people', () => {
  it('have a role, which hides what it may not do', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    const job = await startJob(page, 'Create roles.md with "Roles"');
    await page.getByRole('button', { name: 'Fork from step 1' }).waitFor();
    const path = new URL(page.url()).pathname;
    await showSettings(page, 'API keys');
    await page.getByText('New key').click();
    await page.getByLabel('Kind').selectOption('admin');
    await page.getByLabel('Role', { exact: true }).selectOption('viewer');
    await page.getByLabel('Name').fill('Ada');
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = await page.locator('.shown-once code').innerText();
    await using hers = await visitDashboard(shared.browser, shared.stack, { key });
    const { page: other } = hers;
    await other.getByText('· viewer').waitFor();
    const newJob = other.getByRole('link', { name: 'New job' });
    expect(await newJob.count()).toBe(0);
    await other.goto(new URL(path, shared.stack.localJson.baseUrl).href);
    await other.getByText('Sending messages requires the member role.').waitFor();
    await other.getByRole('button', { name: 'Compare with…' }).waitFor();
    await other.getByRole('button', { name: 'Inspect step 1' }).waitFor();
    expect(await other.getByRole('button', { name: /^(Cancel|Archive|Delete|Send|Fork .*)$/ }).count()).toBe(0);
    expect(await problemsFor(other)).toEqual([]);
    await other.goto(`${shared.stack.localJson.baseUrl}/settings/keys`);
    await other.waitForURL('**/settings/projects');
    const parts = other.getByRole('navigation', { name: 'Settings' }).getByRole('link');
    await expect.poll(() => parts.allInnerTexts()).toEqual(['Projects', 'Sites']);
    await other.locator('details.panel summary').first().click();
    expect(await other.getByLabel('Budget per day (USD)').first().isDisabled()).toBe(true);
    await other.getByText('Requires the admin role.').first().waitFor();
    expect(await other.getByRole('button', { name: /^(Save|Delete project)$/ }).count()).toBe(0);
    expect(await other.getByText(/New project|Deletes its jobs/).count()).toBe(0);
    await checkLooks(other, 'project-of-viewer-light');

    const row = page.getByRole('row', { name: /Ada/ });
    await row.getByLabel('Role of Ada').selectOption('member');
    await checkLooks(page, 'key-roles-light');
    await expect
      .poll(async () =>
        (await other.reload(), newJob.waitFor({ timeout: 10_000 })).then(
          () => 1,
          () => 0,
        ),
      )
      .toBe(1);
    await other.goto(new URL(path, shared.stack.localJson.baseUrl).href);
    await other.getByRole('button', { name: 'Archive' }).click();
    await other.getByText('Job archived.').waitFor();
    const audit = await fetch(`${shared.stack.localJson.baseUrl}/v1/audit?subject=${job}&action=job.archive`, {
      headers: { authorization: `Bearer ${shared.stack.localJson.adminKey}` },
    });
    expect(await audit.json()).toMatchObject({ entries: [{ actor: { keyName: 'Ada' } }] });
    expect([...visit.complaints, ...hers.complaints]).toEqual([]);
  });

  it('switch between their organizations, in all tabs, and sign out of all at once', async () => {
    const { stack, pool } = shared;
    const { organizationId } = await buildProject(pool);
    const { key } = await buildKey(pool, { organizationId, role: 'member' });
    await using visit = await visitDashboard(shared.browser, stack);
    const { page, context } = visit;
    const tab = await context.newPage();
    await tab.goto(`${stack.localJson.baseUrl}/settings/projects`);
    const account = (of: Page) => of.locator('.account-organizations');
    await account(tab).getByText('Local').waitFor();

    await account(page).getByText('Local').click();
    await account(page).getByRole('link', { name: 'Add organization' }).click();
    await page.getByText('You are still signed in to Local.').waitFor();
    expect(await problemsFor(page)).toEqual([]);
    await page.getByLabel('Admin key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    for (const one of [page, tab]) await account(one).getByText('Acme · member').waitFor();
    expect(new URL(tab.url()).pathname).toBe('/jobs');

    await account(page).getByText('Acme').click();
    await checkLooks(page, 'organizations-light');
    expect(await problemsFor(page)).toEqual([]);
    await account(page).getByRole('button', { name: 'Local' }).click();
    for (const one of [page, tab]) await account(one).getByText('Local', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    for (const one of [page, tab]) await one.getByRole('heading', { name: 'Sign in to Docket' }).waitFor();
    const { rows } = await pool.query(`select 1 from sessions where organization_id = $1 and revoked_at is null`, [
      organizationId,
    ]);
    expect(rows).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });
});
