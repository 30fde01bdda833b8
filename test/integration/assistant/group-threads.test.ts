import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStream } from '../../support/sdk-clients/open-stream.ts';
import { connectMcp, textOf } from '../mcp/mcp-client.ts';
import { acceptTokens, readerHeaders } from './group-readers.ts';
import { serveModelApi, type ModelApi } from './model-api.ts';
import { pages, publishPages, question } from './site.ts';

const secretWord = 'marigold';
const text = 'What is the retry limit of staff?';

let api: ModelApi;
let staff: Record<string, string>;
beforeAll(async () => {
  api = await serveModelApi({ times: { modelStalledMs: 600_000 } });
  await acceptTokens(api.apis[0]!, api.docs);
  await publishPages(api.database.pool, api.docs.site, {
    ...pages,
    'staff/rates.md': `---\ngroups: [staff]\nversion: "2"\n---\n\n# Rates\n\nThe retry limit of staff is ${secretWord}.\n`,
    'rates.md': '---\nversion: "1"\n---\n\n# Open rates\n\nThe retry limit of everybody is tulip.\n',
  });
  staff = await readerHeaders(api.docs, ['staff']);
});
afterAll(() => api?.[Symbol.asyncDispose]());

/** Every request of the model since a moment, as one text. */
const since = (count: number) => JSON.stringify(api.model.requests.slice(count).map(({ body }) => body));
const messagePath = () => `/discovery/v2/assistant/${api.docs.site.domain}/message`;
const readPage = { toolCalls: [{ name: 'read_page', input: { path: 'staff/rates' } }] };

/** A conversation whose answer contains a page for staff. */
async function staffThread(): Promise<string> {
  const json = question(text, { stream: false });
  api.model.script({ text: `The limit is ${secretWord}. See [rates](/staff/rates).` });
  const { body } = await api.apis[0]!.ask(messagePath(), { key: api.docs.assistantKey, json, headers: staff });
  expect([body.text.includes(secretWord), body.sources.length > 0]).toEqual([true, true]);
  return body.threadId;
}

it.each(['stream', 'whole', 'mcp'])(
  'continues a thread of a reader with a group, and shows nothing of it to one without (%s)',
  async (delivery) => {
    const threadId = await staffThread();
    for (const [headers, isStaff] of [
      [{}, false],
      [await readerHeaders(api.docs, ['partners']), false],
      [staff, true],
    ] as const) {
      const asked = api.model.requests.length;
      api.model.script(readPage, { text: 'As I said. See [rates](/staff/rates).' });
      let shown: string;
      if (delivery === 'mcp') {
        const client = await connectMcp(api.apis[0]!, api.docs, headers);
        const more = { question: text, threadId, currentPath: '/staff/rates' };
        shown = textOf(await client.callTool({ name: 'ask', arguments: more }));
        await client.close();
      } else {
        const stream = delivery === 'stream';
        const json = question(text, { threadId, stream, citations: true, currentPath: '/staff/rates' });
        shown = (await api.apis[0]!.ask(messagePath(), { key: api.docs.assistantKey, json, headers })).text;
      }
      expect(shown).toContain(threadId);
      expect([headers, /staff\/rates|marigold/.test(shown)]).toEqual([headers, isStaff]);
      expect([headers, since(asked).includes(secretWord)]).toEqual([headers, isStaff]);
    }
  },
);

it('is read with an admin key only', async () => {
  const path = `/discovery/v1/assistant/${api.docs.site.domain}/thread/${await staffThread()}`;
  const read = (key: string) => api.apis[0]!.ask(path, { key, headers: staff });
  expect((await read(api.docs.adminKey)).text).toContain(secretWord);
  expect((await read(api.docs.assistantKey)).status).toBe(403);
});

it('resumes an answer from a page for a group with the secret of its reader only', async () => {
  const json = question(text, { id: 'docs', resumable: true });
  const url = `${api.apis[0]!.url}${messagePath()}`;
  const key = api.docs.assistantKey;
  api.model.script({ text: [`The limit is ${secretWord}. `, 'That is all.'], stall: 2 });
  const first = await openStream(url, { key, json, headers: staff });
  await first.until(secretWord);
  const resume = `${url}/docs/stream`;
  const resumeToken = String(first.headers['x-resume-token']);
  const own = await openStream(resume, { key, headers: { ...staff, 'X-Resume-Token': resumeToken } });
  await own.until(secretWord);
  // another reader of the same page has the same key and chat id, and a secret of its own
  api.model.script({ text: ['Everybody. ', 'That is all.'], stall: 2 });
  const second = await openStream(url, { key, json });
  await second.until('Everybody');
  for (const token of [String(second.headers['x-resume-token']), '', String(first.headers['x-thread-id'])]) {
    for (const headers of [{}, staff]) {
      const stream = await openStream(resume, { key, headers: { ...headers, 'X-Resume-Token': token } });
      if (stream.status === 200) await stream.until('Everybody');
      expect([token, stream.status, stream.text().includes(secretWord)]).toEqual([
        token,
        token === second.headers['x-resume-token'] ? 200 : 204,
        false,
      ]);
      stream.leave();
    }
  }
  api.model.release();
  await Promise.all([first.ended, second.ended, own.ended]);
});

it.each<[string, string[] | null, object | null, string[]]>([
  ['a reader without a token', null, null, ['rates']],
  ['a reader of another group', ['partners'], null, ['rates']],
  ['a reader of the group', ['staff'], null, ['rates', 'staff/rates']],
  ['a reader of the group that wants version 1', ['staff'], { version: '1' }, ['rates']],
  ['a reader of the group that wants version 2', ['staff'], { version: '2' }, ['staff/rates']],
  ['a reader without a token that wants version 2', null, { version: '2' }, []],
  ['a reader without a token that wants the group', null, { groups: ['staff'] }, []],
])('MCP answers %s from the pages of its groups and filter', async (_who, groups, filter, expected) => {
  const client = await connectMcp(api.apis[0]!, api.docs, await readerHeaders(api.docs, groups));
  const asked = api.model.requests.length;
  const read = ['staff/rates', 'rates'].map((path) => ({ name: 'read_page', input: { path } }));
  api.model.script({ toolCalls: read }, { text: 'See [staff](/staff/rates) and [all](/rates).' });
  const result: any = await client.callTool({ name: 'ask', arguments: { question: 'retry limit', filter } });
  await client.close();
  const words = { rates: 'tulip', 'staff/rates': secretWord };
  const reached = Object.entries(words).filter(([, word]) => since(asked).includes(word));
  expect(reached.map(([path]) => path)).toEqual(expected);
  const { answer, sources } = result.structuredContent;
  expect([answer.includes('/staff/rates'), /\]\(\S*\/rates\)/.test(answer.replace('/staff/rates', ''))]).toEqual([
    expected.includes('staff/rates'),
    expected.includes('rates'),
  ]);
  const shown = sources.map(({ path }: { path: string }) => path).filter((path: string) => /rates/.test(path));
  expect(shown.toSorted()).toEqual(expected);
});
