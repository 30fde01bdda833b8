import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { checkLooks, visitDashboard } from '../../support/browser/dashboard.ts';
import { chromiumPath, dashboardStack, expireSessions } from '../../support/browser/dashboard-of-file.ts';

const shared = dashboardStack();

describe.runIf(chromiumPath !== null)('a session', () => {
  it('that has expired says so, and returns its owner to the same page after signing in', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack, { colorScheme: 'dark' });
    const { page } = visit;
    await page.goto(`${shared.stack.localJson.baseUrl}/settings/sites`);
    const index = page.getByRole('region', { name: 'sample' }).getByRole('button', { name: 'Re-index' });
    await index.waitFor();
    await expireSessions(shared);
    await index.click();
    await page.getByText('Your session has ended.').waitFor();
    await checkLooks(page, 'session-ended-dark');
    await page.reload();
    await page.getByText('Your session has ended.').waitFor();
    await page.getByLabel('Admin key').fill('svc_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .getByRole('alert')
      .getByText(/key is unknown/)
      .waitFor();
    await page.getByLabel('Admin key').fill(shared.stack.localJson.adminKey);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('region', { name: shared.stack.localJson.domain }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/settings/sites');

    const other = await page.context().newPage();
    await other.goto(`${shared.stack.localJson.baseUrl}/settings/sites`);
    await other.getByRole('region', { name: shared.stack.localJson.domain }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    for (const tab of [page, other]) await tab.getByRole('heading', { name: 'Sign in to Docket' }).waitFor();
    expect(await page.getByText('Your session has ended.').count()).toBe(0);
    await page.goto(`${shared.stack.localJson.baseUrl}/settings/keys`);
    await page.getByRole('heading', { name: 'Sign in to Docket' }).waitFor();
  });

  it('whose app does not load says what to do, but not at once', async () => {
    await using context = await shared.browser.newContext();
    const page = await context.newPage();
    await page.route(/\/assets\/.*\.js$/, (route) => route.abort());
    await page.goto(shared.stack.localJson.dashboardUrl);
    const after = (seconds: number) =>
      page.getByText('reload the page').evaluate((note, at) => {
        for (const animation of note.getAnimations()) {
          animation.pause();
          animation.currentTime = at;
        }
        return getComputedStyle(note).visibility;
      }, seconds * 1_000);
    expect([await after(7), await after(9)]).toEqual(['hidden', 'visible']);
  });

  it('shows a page whose code did not load once it is asked to try again', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page } = visit;
    await page.route('**/assets/gaps-*', (route) => route.abort());
    await page.getByRole('link', { name: 'Gaps', exact: true }).click();
    await page.getByRole('heading', { name: 'This page could not be displayed' }).waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('heading', { name: 'Gaps', exact: true }).waitFor();
  });

  it('does nothing for a page of another origin', async () => {
    await using visit = await visitDashboard(shared.browser, shared.stack);
    const { page, context } = visit;
    const { baseUrl, domain } = shared.stack.localJson;
    const foreign = createServer((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Elsewhere</title>'),
    );
    await using closing = new AsyncDisposableStack();
    closing.defer(() => void foreign.close());
    foreign.listen(0, '127.0.0.1');
    await once(foreign, 'listening');
    const evil = await context.newPage();
    await evil.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
    const refused = evil.waitForEvent('response', (response) => response.url() === `${baseUrl}/v1/keys`);
    await evil.evaluate(async (address) => {
      const body = JSON.stringify({ kind: 'admin', name: 'stolen' });
      await fetch(address, { method: 'POST', mode: 'no-cors', credentials: 'include', body });
    }, `${baseUrl}/v1/keys`);
    // ports do not separate sites: the cookie is sent (401 without it), and the origin decides
    expect((await refused).status()).toBe(403);
    const withoutCookie = await fetch(`${baseUrl}/v1/keys`, { method: 'POST', body: '{}' });
    expect(withoutCookie.status).toBe(401);
    const readBack = await evil.evaluate(
      (address) =>
        fetch(address, { credentials: 'include' }).then(
          (answer) => answer.text(),
          () => 'nothing',
        ),
      `${baseUrl}/v1/sites/${domain}`,
    );
    expect(readBack).toBe('nothing');
    await page.goto(`${baseUrl}/settings/keys`);
    await page
      .getByRole('row', { name: /npm start/ })
      .first()
      .waitFor();
    expect(await page.getByText('stolen').count()).toBe(0);
  });
});
