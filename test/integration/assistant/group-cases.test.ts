import { expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { fc, propertyRuns } from '../../support/properties.ts';
import { serveApi, type Answer } from '../api/serve.ts';
import { acceptTokens, readerHeaders } from './group-readers.ts';
import { buildIndexedSite, publishPages, question, type TestSite } from './site.ts';
import { ofFile } from '../../support/of-file.ts';

const names = ['staff', 'Partners', 'équipe', 'a b', '"quoted"'];
const spellings = names.flatMap((name) => [name, name.toUpperCase(), ` ${name} `]);
const pagesOfSite = 20;

const database = ofFile(createTestDatabase);
const api = ofFile(() =>
  serveApi(database.pool, {
    DOCKET_ASSISTANT_PER_HOUR: '1000000000',
    DOCKET_ASSISTANT_PER_IP_PER_DAY: '1000000000',
  }),
);

interface Reader {
  /** Those of the token; null without one. */
  groups: string[] | null;
  /** Pages that this reader asks about. */
  asked: number[];
  /** Whether the token is signed by another key. */
  isForged: boolean;
}

const anyPage = fc.integer({ min: 0, max: pagesOfSite - 1 });
const anyReader = fc.record<Omit<Reader, 'isForged'>>({
  groups: fc.option(fc.subarray([...spellings, 'unknown'], { maxLength: 4 }), { nil: null }),
  asked: fc.array(anyPage, { minLength: 3, maxLength: 3 }),
});
/** One reader in four has a forged token. */
const anyReaders = (count: number) =>
  fc
    .array(anyReader, { minLength: count, maxLength: count })
    .map((readers) =>
      readers.map(({ groups, asked }, at): Reader =>
        at % 4 === 3 ? { groups: groups ?? ['staff'], asked, isForged: true } : { groups, asked, isForged: false },
      ),
    );
/** A page's groups: null for a public page, an empty list for a page without readers. */
const anyGroups = fc.option(fc.subarray(spellings, { maxLength: 3 }), { nil: null });

function normalised(name: string): string {
  return name.trim().toLowerCase().normalize('NFC');
}

function mayRead({ groups, isForged }: Reader, ofPage: readonly string[] | null): boolean {
  if (isForged) return false;
  return ofPage === null || ofPage.some((one) => groups?.some((own) => normalised(own) === normalised(one)));
}

const nameOf = (at: number) => `lamp${String(at).padStart(2, '0')}`;
const wordOf = (at: number) => `secret${String(at).padStart(2, '0')}z`;

const questionOf = (at: number) => `What is the code of ${nameOf(at)}?`;

function fileOf(groups: readonly string[] | null, at: number): string {
  // groups that are no names keep a page from everybody
  const value = groups?.length === 0 ? 'true' : JSON.stringify(groups);
  const front = groups === null ? '' : `---\ngroups: ${value}\n---\n\n`;
  return `${front}# The ${nameOf(at)}\n\nThe code of ${nameOf(at)} is ${wordOf(at)}.\n`;
}

/** Pages whose words, or names, a text contains. */
const byWord = (text: string) => [...text.matchAll(/secret(\d\d)z/g)].map(([, number]) => Number(number));
const byName = (text: string) => [...text.matchAll(/lamp(\d\d)/g)].map(([, number]) => Number(number));

/** Whether an endpoint shows a reader content of every page, or only of the requested pages. */
type Shown = [surface: string, pages: number[], asked: number[] | null];

/** Asks every surface as one reader. A refused token is refused by all of them. */
async function shownTo({ site, assistantKey: key }: TestSite, reader: Reader, threadId: string | null) {
  const headers = await readerHeaders({ site }, reader.groups, reader);
  const send = async (path: string, json?: unknown): Promise<Answer> => {
    const answer = await api.ask(path, { key, headers, json });
    expect([path, answer.status === 401], answer.text).toEqual([path, reader.isForged]);
    return answer;
  };
  const mcp = async (method: string, params: object) => {
    const { body } = await send(`/mcp/${site.domain}`, { jsonrpc: '2.0', id: 1, method, params });
    return JSON.stringify(body.result ?? null);
  };
  const call = (name: string, args: object) => mcp('tools/call', { name, arguments: args });
  const each = async (read: (at: number) => Promise<string>) =>
    (await Promise.all(Array.from({ length: pagesOfSite }, (_, at) => read(at)))).join('\n');
  const suggest = async (query: string) => {
    const { body } = await send(`/discovery/v1/suggest/${site.domain}`, { query, limit: 10 });
    return JSON.stringify(body.pages ?? null);
  };
  const docs = `/discovery/v1/docs/${site.domain}`;
  const search = { query: 'code of the lamp', pageSize: 50 };
  const shown: Shown[] = [
    ['search', byWord((await send(`/discovery/v1/search/${site.domain}`, search)).text), null],
    [
      'page',
      byWord(await each(async (at) => (await send(`/discovery/v1/page/${site.domain}`, { path: nameOf(at) })).text)),
      null,
    ],
    ['suggest', byName((await suggest('lamp0')) + (await suggest('lamp1'))), null],
    ['llms.txt', byName((await send(`${docs}/llms.txt`)).text), null],
    ['llms-full.txt', byWord((await send(`${docs}/llms-full.txt`)).text), null],
    ['.md', byWord(await each(async (at) => (await send(`${docs}/${nameOf(at)}.md`)).text)), null],
    ['MCP search', byWord(await call('search', search)), null],
    ['MCP read_page', byWord(await each((at) => call('read_page', { path: nameOf(at) }))), null],
    ['MCP resources/list', byName(await mcp('resources/list', {})), null],
    [
      'MCP resources/read',
      byWord(await each((at) => mcp('resources/read', { uri: `docs://${site.domain}/${nameOf(at)}` }))),
      null,
    ],
  ];
  const message = async (version: 'v1' | 'v2', at: number, stream: boolean) => {
    const more = { threadId, currentPath: `/${nameOf(at)}`, stream };
    return send(`/discovery/${version}/assistant/${site.domain}/message`, question(questionOf(at), more));
  };
  const [streamed = 0, whole = 0, overMcp = 0] = reader.asked;
  const stream = await message('v2', streamed, true);
  const args = { question: questionOf(overMcp), threadId, currentPath: `/${nameOf(overMcp)}` };
  shown.push(
    ['stream', byWord(stream.text), [streamed]],
    ['whole answer', byWord((await message('v1', whole, false)).text), [whole]],
    ['MCP ask', byWord(await call('ask', args)), [overMcp]],
  );
  return { shown, threadId: stream.headers.get('x-thread-id') };
}

/** Generates sites and readers, and returns the number of cases of a page and a reader. Throws for a page too many. */
async function checkCases({ sites, readers }: { sites: number; readers: number }): Promise<number> {
  let cases = 0;
  const anySite = fc.array(anyGroups, { minLength: pagesOfSite, maxLength: pagesOfSite });
  const property = fc.asyncProperty(anySite, anyReaders(readers), async (groupsOf, all) => {
    const docs = await buildIndexedSite(database.pool);
    await acceptTokens(api, docs);
    const files = Object.fromEntries(groupsOf.map((groups, at) => [`${nameOf(at)}.md`, fileOf(groups, at)]));
    await publishPages(database.pool, docs.site, files);
    // each reader continues the conversation of the one before
    let threadId: string | null = null;
    for (const reader of all) {
      const visible = groupsOf.flatMap((groups, at) => (mayRead(reader, groups) ? [at] : []));
      const result = await shownTo(docs, reader, threadId);
      for (const [surface, pages, asked] of result.shown) {
        const seen = [...new Set(pages)].toSorted((a, b) => a - b);
        const about = `${surface} as ${JSON.stringify(reader)}, pages ${JSON.stringify(groupsOf)}`;
        expect(
          seen.filter((at) => !visible.includes(at)),
          about,
        ).toEqual([]);
        const wanted = asked ?? visible;
        expect(seen, about).toEqual(expect.arrayContaining(wanted.filter((at) => visible.includes(at))));
      }
      threadId = result.threadId ?? threadId;
      cases += groupsOf.length;
    }
  });
  // a smaller example would take thousands of requests to find
  await fc.assert(property, { numRuns: sites, endOnFailure: true });
  return cases;
}

it('shows no page of another group in 80 generated cases, on any surface', async () => {
  expect(await checkCases({ sites: 1, readers: 4 })).toBe(80);
});

it(
  'shows no page of another group in 10,000 generated cases, on any surface',
  { tags: 'slow', timeout: 1_800_000 },
  async () => {
    const sites = propertyRuns(20);
    expect(await checkCases({ sites, readers: 25 })).toBe(sites * 25 * pagesOfSite);
  },
);
