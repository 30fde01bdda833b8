import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { seriousProblems, startJob, untilStatus, visitDashboard } from '../../support/browser/dashboard.ts';
import { focusRow } from '../../support/browser/keyboard.ts';
import { chromiumPath, dashboardStack } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStack();

describe.runIf(chromiumPath !== null)('the dashboard', () => {
  it('explains a failed job, and forks one from a step', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await page.getByRole('link', { name: 'New job' }).click();
    await page.getByLabel('What should change?').fill('Delete README.md');
    await page.getByLabel('Branch, tag or commit').fill('no-such-branch');
    await page.getByRole('button', { name: 'Start job' }).click();
    await untilStatus(page, 'failed');
    await page.getByRole('heading', { name: 'The branch or commit does not exist in the repository' }).waitFor();
    await page.getByText('“Retry with…” opens the form of the job, where you can change the base branch.').waitFor();
    await page.getByText('A message cannot change the base branch.').waitFor();
    expect(await page.getByText('source.ref').count()).toBe(0);
    await page.keyboard.press('r');
    await page.getByRole('heading', { name: 'New job' }).waitFor();
    expect(await page.getByLabel('Branch, tag or commit').inputValue()).toBe('no-such-branch');
    await page.getByLabel('Branch, tag or commit').fill('');

    const id = await startJob(page, 'Create one.md with "1". Create two.md with "2"');
    await untilStatus(page, 'completed');
    await page.getByRole('button', { name: 'Fork from step 1' }).click();
    await page.getByLabel('Instructions').fill('Create three.md with "3"');
    await page.getByRole('button', { name: 'Fork the job' }).click();
    await page.waitForURL((url) => url.pathname.includes('/job_') && !url.pathname.includes(id));
    await page.getByText('step 1 of another job').waitFor();
    await untilStatus(page, 'completed');
    expect(visit.complaints).toEqual([]);
  });

  it('shows what a command prints while it runs, and cancels its job', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await startJob(page, 'Run "for i in 1 2 3 4 5 6 7 8 9; do echo row $i; done; sleep 300"');
    const output = page.getByRole('log', { name: 'Output' });
    await output.getByText('row 9').waitFor();
    await page.locator('.tool-facts', { hasText: /^running for / }).waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    const row = page.getByRole('group').filter({ has: output });
    expect(await row.getByRole('button', { name: 'Follow output' }).getAttribute('aria-pressed')).toBe('true');
    await row.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Cancel the job' }).click();
    await untilStatus(page, 'cancelled');
    await output.waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('keeps the filters of the list in the URL', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await page.getByRole('button', { name: /^failed 1$/ }).click();
    await page.waitForURL(/status=failed/);
    await page.locator('.row', { hasText: 'Delete README.md' }).waitFor();
    await expect.poll(() => page.locator('.row', { hasText: 'Create one.md' }).count()).toBe(0);
    await page.getByRole('button', { name: 'all' }).click();
    await page.getByLabel('Search jobs').fill('two.md');
    await page.waitForURL(/q=two\.md/);
    await page.reload();
    await page.locator('.row', { hasText: 'Create one.md' }).first().waitFor();
    await expect.poll(() => page.locator('.row', { hasText: 'Delete README.md' }).count()).toBe(0);
    expect(await page.getByLabel('Search jobs').inputValue()).toBe('two.md');
  });

  it('acts on several jobs at once, by keys and check boxes, and tells each failure', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await page.goto(`${shared.stack.localJson.baseUrl}/jobs?status=failed`);
    const failed = page.locator('.rows .row', { hasText: 'Delete README.md' });
    await failed.waitFor();
    await focusRow(page);
    await page.keyboard.press('x');
    await page.getByText('1 job selected').waitFor();
    await page.getByRole('button', { name: 'Retry 1' }).click();
    await page.getByText('1 job retried.').waitFor();
    await expect.poll(() => failed.count()).toBe(2);
    await page.getByLabel('Select all loaded jobs').check();
    await page.getByText('2 jobs selected').waitFor();
    expect(await seriousProblems(page)).toEqual([]);
    await page.route('**/archive', (route) => route.fulfill({ status: 500, json: { error: 'Not today.' } }), {
      times: 1,
    });
    await page.keyboard.press('e');
    await page.getByText('1 job archived. 1 job could not be:').waitFor();
    await page.getByText('Delete README.md: Not today.').waitFor();
    await expect.poll(() => failed.count()).toBe(1);
    await page.getByText('1 job selected').waitFor();
    await page.keyboard.press('e');
    await expect.poll(() => failed.count()).toBe(0);
    const toast = page.locator('.toast');
    await toast.getByText('1 job archived.').waitFor();
    // it stays while it has the focus
    await toast.getByRole('button', { name: 'Undo' }).focus();
    expect(await seriousProblems(page)).toEqual([]);
    await toast.getByRole('button', { name: 'Undo' }).press('Enter');
    await toast.getByText('1 job no longer archived.').waitFor();
    await expect.poll(() => failed.count()).toBe(1);
    expect(visit.complaints).toEqual([]);
  });

  it('answers a question in the playground, with sources and the passages found', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByRole('textbox', { name: 'Question' }).fill('How do I run a scene?');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.locator('a.docket-source').first().waitFor();
    await expect.poll(() => page.getByRole('article', { name: 'Answer' }).innerText()).toMatch(/scene/i);
    await expect.poll(() => page.locator('.passage').count()).toBeGreaterThan(0);
    expect(visit.complaints).toEqual([]);
  });

  it('creates a working key, shows it once, and revokes it', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText('New key').click();
    await page.getByLabel('Kind').selectOption('admin');
    await page.getByLabel('Name').fill('of the test');
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = await page.locator('.shown-once code').innerText();
    const { baseUrl, projectId } = shared.stack.localJson;
    const use = async () =>
      (await fetch(`${baseUrl}/v2/agent/${projectId}/jobs`, { headers: { authorization: `Bearer ${key}` } })).status;
    expect(await use()).toBe(200);
    await page.reload();
    const row = page.getByRole('row', { name: /of the test/ });
    await row.waitFor();
    expect(await page.locator('.shown-once').count()).toBe(0);
    expect(await page.content()).not.toContain(key);
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await row.getByText('revoked').waitFor();
    while ((await use()) !== 401) await wait(100);
    await page.goto(`${baseUrl}/settings/audit`);
    const entry = page.getByRole('row', { name: /key\.revoke of the test/ });
    await entry
      .getByRole('button', { name: /^Copy / })
      .first()
      .waitFor();
  });

  it('names the cells of a table on a narrow screen, however many there are', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack, { width: 390 });
    const { page } = visit;
    await page.goto(`${shared.stack.localJson.baseUrl}/settings/keys`);
    await page.locator('.table tbody tr').first().waitFor();
    const named = () =>
      page
        .locator('.table tbody tr:first-child td')
        .evaluateAll((cells) => cells.map((cell) => getComputedStyle(cell, '::before').content));
    expect((await named())[1]).toMatch(/^"[A-Z]\w/);
    await page.evaluate(() => {
      for (const row of document.querySelectorAll('.table tr'))
        for (const place of [1, 2, 3, 4, 5, 6, 7, 8]) {
          const cell = document.createElement(row.parentElement!.tagName === 'THEAD' ? 'th' : 'td');
          cell.textContent = `More ${place}`;
          row.append(cell);
        }
    });
    await expect.poll(async () => (await named()).at(-1)).toMatch(/^"More 8"/);
    expect(visit.complaints).toEqual([]);
  });

  it('breaks a long word in a table instead of moving the other columns out of view', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack, { width: 1440 });
    const { page } = visit;
    await page.goto(`${shared.stack.localJson.baseUrl}/settings/keys`);
    const name = page.locator('.key-name').first();
    await name.waitFor();
    await name.evaluate((element) => void (element.textContent = 'Long'.repeat(25)));
    for (const table of await page.locator('.table-scroll').all())
      expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    const words = page.locator('.table tbody td', { hasText: /^(?:admin|assistant|project)$/ });
    const lines = await words.evaluateAll((cells) =>
      cells.map((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getClientRects().length;
      }),
    );
    expect(new Set(lines)).toEqual(new Set([1]));
    expect(visit.complaints).toEqual([]);
  });

  it('searches the whole audit log for what it is filtered for', async () => {
    const { pool, stack } = shared;
    const { rows } = await pool.query('select organization_id from projects where id = $1', [
      stack.localJson.projectId,
    ]);
    const { organization_id: organizationId } = rows[0];
    // a request searches 2,000 of them
    for (const [action, count, days] of [
      ['site.wanted', 1, 3],
      ['site.other', 4_100, 2],
    ] as const)
      await pool.query(
        `insert into audit_entries (id, organization_id, action, created_at)
         select 'aud_' || translate($2, '.', '_') || number, $1, $2, now() - $4 * interval '1 day' from generate_series(1, $3) as number`,
        [organizationId, action, count, days],
      );
    await using visit = await visitDashboard(shared.browser, stack);
    const { page } = visit;
    await page.goto(`${stack.localJson.baseUrl}/settings/audit?action=site.wanted`);
    await page.getByRole('cell', { name: 'site.wanted' }).waitFor();
    await page.goto(`${stack.localJson.baseUrl}/settings/audit?action=site.never`);
    await page.getByText('No matching changes').waitFor();
    expect(await page.getByRole('button', { name: 'Earlier' }).count()).toBe(0);
    await pool.query(`delete from audit_entries where action in ('site.wanted', 'site.other')`);
    expect(visit.complaints).toEqual([]);
  });

  it('shows both of two equal lines on the operations page', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    const operations = await page.request.get(`${shared.stack.localJson.baseUrl}/v1/operations?hours=24`);
    const json = await operations.json();
    for (const point of json.latency.series) point.jobP50Ms = point.jobP95Ms = 1_000;
    await page.route(/\/v1\/operations\?/, (route) => route.fulfill({ json }));
    await page.getByRole('link', { name: 'Operations' }).click();
    const plot = page.locator('.plot', { hasText: 'Turn duration' });
    const hues = () =>
      plot.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        const found = new Set<string>();
        for (let at = 0; at < data.length; at += 4) {
          const [red = 0, green = 0, blue = 0] = data.subarray(at, at + 3);
          // where one line covers the other, its edges have a bit of both
          if (blue > 150 && Math.abs(red - green) > 30) found.add(red > green ? 'purple' : 'blue');
        }
        return [...found].sort();
      });
    await expect.poll(hues).toEqual(['blue', 'purple']);
    expect(visit.complaints).toEqual([]);
  });
});
