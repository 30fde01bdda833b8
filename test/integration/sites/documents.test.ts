import { beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi } from '../api/serve.ts';
import { buildIndexedSite, publishPages, type TestSite } from '../assistant/site.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));
const docs = ofFile(() => buildIndexedSite(database.pool, { baseUrl: 'https://docs.example.com/base' }));

beforeAll(async () => {
  await publishPages(database.pool, docs.site, {
    'index.md': '# Widgets\n\nStart here.\n',
    'guides/set up.md': '---\ntitle: Set [up]\ndescription: |\n  How to\n  begin\n---\n\nRun `widget init`.\n',
    'staff/prices.md': '---\ntitle: Prices\ngroups: [staff]\n---\n\nThe purchase price is 3.\n',
    'secret.md': '---\nhidden: true\n---\n\n# Secret\n\nThe code is 4711.\n',
  });
});

const read = (file: string, { site, assistantKey: key }: TestSite = docs) =>
  api.ask(`/discovery/v1/docs/${site.domain}/${file}`, { key, headers: { origin: 'https://a.example' } });

describe('llms.txt', () => {
  it('links to the Markdown of each public page, relative to itself', async () => {
    const { status, headers, text } = await read('llms.txt');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(text).toBe(`# ${docs.site.domain}

## Pages

- [Set \\[up\\]](guides/set%20up.md): How to begin
- [Widgets](index.md)
`);
    for (const [, link] of text.matchAll(/\]\(([^)]+)\)/g))
      expect([link, (await read(link!)).status]).toEqual([link, 200]);
  });

  it('comes in parts, each of which links to the next one', async () => {
    const many = await buildIndexedSite(database.pool);
    const pages = Array.from({ length: 1_001 }, (_, at) => [`p${String(at).padStart(4, '0')}.md`, `# Page ${at}\n`]);
    await publishPages(database.pool, many.site, Object.fromEntries(pages));
    for (const file of ['llms.txt', 'llms-full.txt']) {
      const first = await read(file, many);
      expect(first.headers.get('link')).toBe(`<${file}?from=1000>; rel="next"`);
      expect(first.text).toContain(`[More pages](${file}?from=1000)`);
      expect(first.text.match(/Page \d+/g)).toHaveLength(file === 'llms.txt' ? 1_000 : 2_000);
      const last = await read(`${file}?from=1000`, many);
      expect([last.status, last.headers.get('link')]).toEqual([200, null]);
      expect(last.text).toContain('Page 1000');
      expect(last.text).not.toContain('Page 999');
    }
  });

  it('refuses a part that is not a number', async () => {
    for (const file of ['llms.txt?from=x', 'llms.txt?from=-1', 'llms-full.txt?from=1e3', 'llms.txt?form=1'])
      expect((await read(file)).status).toBe(400);
  });
});

describe('llms-full.txt', () => {
  it('has the text of the public pages only', async () => {
    const { status, text } = await read('llms-full.txt');
    expect(status).toBe(200);
    expect(text).toContain('# Set [up]\n\nSource: guides/set%20up.md\n\nRun `widget init`.\n\n# Widgets');
    expect(text).not.toMatch(/purchase|4711/);
  });

  it('ends a part with the page that makes it longer than a megabyte', { tags: ['slow'] }, async () => {
    const large = await buildIndexedSite(database.pool);
    const page = (name: string) => `# ${name}\n\n${'word '.repeat(150_000)}\n`;
    await publishPages(database.pool, large.site, { 'a.md': page('A'), 'b.md': page('B'), 'c.md': page('C') });
    const { text, headers } = await read('llms-full.txt', large);
    expect(headers.get('link')).toBe('<llms-full.txt?from=2>; rel="next"');
    expect(text).not.toContain('# C');
    expect((await read('llms-full.txt?from=2', large)).text).toContain('# C');
  });
});

describe('a page as a file', () => {
  it('is Markdown, and names the published page and the list', async () => {
    const { status, headers, text } = await read('guides/set%20up.md');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
    expect(headers.get('link')).toBe(
      '<https://docs.example.com/base/guides/set%20up>; rel="canonical", <../llms.txt>; rel="index"',
    );
    expect(text).toContain('Run `widget init`.');
  });

  it.each([
    'staff/prices.md',
    'secret.md',
    'none.md',
    'guides/../staff/prices.md',
    'staff%2Fprices.md',
    '/staff/prices.md',
  ])('is not found as %s', async (file) => {
    const { status, body } = await read(file);
    expect([status, Object.keys(body)]).toEqual([404, ['error']]);
  });
});

it('answers 404 for the site of another organization, and 401 without a key', async () => {
  const other = await buildIndexedSite(database.pool);
  for (const file of ['llms.txt', 'llms-full.txt', 'index.md']) {
    const path = `/discovery/v1/docs/${docs.site.domain}/${file}`;
    const foreign = await api.ask(path, { key: other.assistantKey });
    expect([foreign.status, foreign.body]).toEqual([404, { error: 'The site was not found.' }]);
    expect((await api.ask(path)).status).toBe(401);
  }
});
