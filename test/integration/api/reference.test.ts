import { describe, expect, it } from 'vitest';
import { findBrowser, launchBrowser } from '../../support/browser/browser.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi } from './serve.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));

it('serves the files of the reference and no others', async () => {
  for (const [file, type] of [
    ['start.js', 'text/javascript'],
    ['swagger-ui-bundle.js', 'text/javascript'],
    ['swagger-ui.css', 'text/css'],
  ]) {
    const response = await fetch(`${api.url}/reference/${file}`);
    expect([file, response.status]).toEqual([file, 200]);
    expect(response.headers.get('content-type')).toContain(type);
    await response.arrayBuffer();
  }
  for (const file of ['package.json', 'constructor', '..%2fpackage.json', 'swagger-ui-bundle.js.map'])
    expect((await fetch(`${api.url}/reference/${file}`)).status).toBe(404);
});

it.each([
  ['br', 500_000],
  ['gzip', 600_000],
  ['identity', 2_000_000],
])('sends a file as %s, and only once to a client that caches it', async (encoding, most) => {
  const url = `${api.url}/reference/swagger-ui-bundle.js`;
  const response = await fetch(url, { headers: { 'accept-encoding': encoding } });
  expect(response.headers.get('content-encoding') ?? 'identity').toBe(encoding);
  expect(Number(response.headers.get('content-length'))).toBeLessThan(most);
  expect((await response.text()).length).toBeGreaterThan(1_000_000);
  const etag = response.headers.get('etag') ?? '';
  // fetch would not request a cached file
  const known = { 'if-none-match': etag, 'cache-control': 'max-age=0' };
  expect((await fetch(url, { headers: known })).status).toBe(304);
});

describe.runIf(findBrowser('Chromium') !== null)('in a browser', { tags: ['slow'] }, () => {
  it('shows every operation, and contacts no other server', async () => {
    const browser = await launchBrowser('Chromium', findBrowser('Chromium')!);
    try {
      const page = await browser.newPage();
      const asked: string[] = [];
      const problems: string[] = [];
      page.on('request', (request) => void asked.push(request.url()));
      page.on('console', (message) => void (message.type() === 'error' && problems.push(message.text())));
      page.on('pageerror', (error) => void problems.push(String(error)));
      await page.goto(`${api.url}/reference`);
      await page.locator('.opblock').first().waitFor();
      const description: any = await (await fetch(`${api.url}/openapi.json`)).json();
      const operations = Object.values<any>(description.paths).flatMap((item) =>
        Object.values<any>(item).filter(({ operationId }) => operationId !== undefined),
      );
      expect(await page.locator('.opblock').count()).toBe(operations.length);
      await page.locator('.opblock-summary-control').first().click();
      await page.getByText('Request body').first().waitFor();
      await page.locator('.body-param__example', { hasText: 'Fix the typos in README.md' }).waitFor();
      const read = page.locator('.opblock', { hasText: '/healthz' });
      await read.locator('.opblock-summary-control').click();
      await read.getByRole('button', { name: 'Try it out' }).click();
      await read.getByRole('button', { name: 'Execute' }).click();
      await read.locator('.live-responses-table').getByText('200', { exact: true }).first().waitFor();
      expect(asked.filter((url) => !url.startsWith(api.url) && !url.startsWith('data:'))).toEqual([]);
      expect(problems).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
