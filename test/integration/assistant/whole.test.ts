import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serveModelApi, type ModelApi } from './model-api.ts';
import { question } from './site.ts';

let api: ModelApi;
beforeAll(async () => {
  // a stalled model ends only with its client
  api = await serveModelApi({ times: { modelStalledMs: 600_000 } });
});
afterAll(() => api?.[Symbol.asyncDispose]());

function ask(version: 'v1' | 'v2', more: Record<string, unknown> = {}) {
  return api.apis[0]!.ask(`/discovery/${version}/assistant/${api.docs.site.domain}/message`, {
    key: api.docs.assistantKey,
    json: question('How do I change the retry limit?', { stream: false, ...more }),
  });
}

async function change(json: object) {
  const path = `/v1/sites/${api.docs.site.domain}`;
  expect((await api.apis[0]!.ask(path, { method: 'PATCH', key: api.docs.adminKey, json })).status).toBe(200);
}

const retryLimit = {
  path: 'guides/retries',
  url: 'https://docs.example.com/guides/retries#set-the-retry-limit',
  title: 'Set the retry limit',
  quote: 'Set `retryLimit` in `settings.json` to change how often a request is retried.',
};

it('ends the model call when the client disconnects', async () => {
  api.model.respondWith({ text: 'one', stall: true });
  const leave = new AbortController();
  const asked = fetch(`${api.apis[0]!.url}/discovery/v2/assistant/${api.docs.site.domain}/message`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.docs.assistantKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(question('retry limit?', { stream: false })),
    signal: leave.signal,
  }).catch(() => null);
  const call = await api.model.nextRequest();
  leave.abort();
  await asked;
  expect(await call.closed).toBe('aborted');
});

describe.each(['v1', 'v2'] as const)('stream: false (%s)', (version) => {
  it('returns the whole answer as JSON, with its sources, limits and thread, and stores it', async () => {
    api.model.script({ text: ['Set ', '`retryLimit`, see ', '[Retries](/guides/retries).'] });
    const { status, headers, body } = await ask(version);
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    const url = 'https://docs.example.com/guides/retries';
    expect(body).toEqual({
      threadId: expect.stringMatching(/^thr_/),
      messageId: expect.stringMatching(/^msg_/),
      text: `Set \`retryLimit\`, see [Retries](${url}).`,
      sources: [{ id: 'src_1', url: expect.stringContaining(url), title: 'Retries' }],
      citations: [{ text: body.text, sources: ['src_1'], passages: [retryLimit], unsupported: [] }],
      followUps: ['Delay between retries'],
    });
    expect(headers.get('x-thread-id')).toBe(body.threadId);
    expect(headers.get('ratelimit')).toContain('"org"');
    expect(headers.get('x-resume-token')).toBeNull();
    api.model.script({ text: 'Yes.' });
    expect((await ask(version, { threadId: body.threadId })).body.threadId).toBe(body.threadId);
    const thread = await api.apis[0]!.ask(`/discovery/v1/assistant/${api.docs.site.domain}/thread/${body.threadId}`, {
      key: api.docs.adminKey,
    });
    expect(thread.body.messages.map(({ content }: { content: string }) => content)).toEqual([
      'How do I change the retry limit?',
      body.text,
      'How do I change the retry limit?',
      'Yes.',
    ]);
  });

  it('says what an answer states that its sources do not contain', async () => {
    api.model.script({ text: 'The default is 9, see [Retries](/guides/retries). Set `retryLimit`.' });
    const { body } = await ask(version);
    expect(body.citations).toEqual([
      {
        text: expect.stringContaining('The default is 9'),
        sources: ['src_1'],
        passages: [{ ...retryLimit, quote: 'The default is 3.' }],
        unsupported: ['9'],
      },
      { text: 'Set `retryLimit`.', sources: ['src_1'], passages: [retryLimit], unsupported: [] },
    ]);
  });

  it('lets an answer repeat the names of the question and of the site', async () => {
    api.model.script({ text: 'The limit is not that of Memcached or of Redis, see [Retries](/guides/retries).' });
    const { body } = await ask(version, { context: [{ type: 'textSelection', value: 'our memcached' }] });
    expect(body.citations).toMatchObject([{ unsupported: ['Redis'] }]);
  });

  it('streams citations only to a client that asks for them', async () => {
    const text = 'The default is 3, see [Retries](/guides/retries).';
    api.model.script({ text });
    expect((await ask(version, { stream: true })).text).not.toContain('citations');
    api.model.script({ text });
    const asked = await ask(version, { stream: true, citations: true });
    const passage = JSON.stringify({ ...retryLimit, quote: 'The default is 3.' });
    const list = `[{"text":"The default is 3, see [Retries](https://docs.example.com/guides/retries).","sources":["src_1"],"passages":[${passage}],"unsupported":[]}]`;
    expect(asked.text).toContain(
      version === 'v1'
        ? `\n8:[{"type":"citations","citations":${list}}]\n`
        : `data: {"type":"data-citations","data":${list},"transient":true}\n\n`,
    );
  });

  it('streams topics to ask about next only to a client that asks for them', async () => {
    const text = 'See [Retries](/guides/retries).';
    api.model.script({ text });
    expect((await ask(version, { stream: true })).text).not.toContain('follow-ups');
    api.model.script({ text });
    const asked = await ask(version, { stream: true, followUps: true });
    expect(asked.text).toContain(
      version === 'v1'
        ? '\n8:[{"type":"follow-ups","questions":["Delay between retries"]}]\n'
        : 'data: {"type":"data-follow-ups","data":["Delay between retries"],"transient":true}\n\n',
    );
  });

  it('names the nearest pages and the contact when the documentation has no answer', async () => {
    await change({ contact: 'mailto:help@example.com?subject=(Docs)' });
    api.model.script({ text: 'I could not find this in the documentation.' });
    const { body } = await ask(version);
    expect(body.text).toBe(
      'I could not find this in the documentation.\n\nThe nearest pages:\n\n' +
        '- [Retries](https://docs.example.com/guides/retries)\n\n\n' +
        '[Ask a person](mailto:help@example.com?subject=%28Docs%29)',
    );
    expect([body.sources, body.followUps]).toEqual([[], []]);
    await change({ contact: null });
    api.model.script({ text: 'I could not find this in the documentation. [Retries](/guides/retries) is close.' });
    expect((await ask(version)).body.text).toMatch(/is close\.$/);
  });

  it('leaves out what an answer states without support, if the site says so', async () => {
    await change({ unsupported: 'cut' });
    const text = [
      'Set `retryLimit`. ',
      'The default is 9. See [Re',
      'tries](/guides/retries).\n\nPass `--no',
      '-retry`.',
    ];
    api.model.script({ text });
    const { body } = await ask(version);
    const kept = 'Set `retryLimit`. See [Retries](https://docs.example.com/guides/retries).';
    expect(body.text.replace(/\s+/g, ' ')).toBe(
      `${kept} 2 statements were left out, because the documentation does not support them.`,
    );
    expect(body.citations.flatMap(({ unsupported }: { unsupported: string[] }) => unsupported)).toEqual([]);
    api.model.script({ text: 'The default is 9, see [Install](/guides/install).' });
    const nothing = await ask(version);
    expect(nothing.body.text).toMatch(/^I could not find this in the documentation\.\n\nThe nearest pages:/);
    expect(nothing.body.sources).toEqual([]);
    api.model.script({ status: 500 });
    expect((await ask(version)).status).toBe(503);
    await change({ unsupported: 'mark' });
    api.model.script({ text });
    expect((await ask(version)).body.text).toContain('--no-retry');
  });

  it('answers 503 with a sentence when the model fails', async () => {
    api.model.script({ status: 500 });
    const { status, headers, body } = await ask(version);
    expect([status, body, headers.get('retry-after')]).toEqual([
      503,
      { error: 'The answer was interrupted because the language model failed. Ask again.' },
      '1',
    ]);
  });

  it('streams with stream: true, and refuses to resume what is no stream', async () => {
    api.model.script({ text: 'Yes.' });
    const streamed = await ask(version, { stream: true });
    expect(streamed.headers.get('content-type')).toMatch(/^text\//);
    expect(streamed.text).toContain('Yes.');
    const refused = await ask(version, { resumable: true });
    expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining('resumable must not be true')]);
  });
});

it('suggests pages, sections and starter questions while a reader types', async () => {
  const { domain } = api.docs.site;
  const starterQuestions = ['How do I set the retry limit?', 'What is a widget?'];
  await change({ starterQuestions });
  const suggest = async (json: object) =>
    (await api.apis[0]!.ask(`/discovery/v1/suggest/${domain}`, { key: api.docs.assistantKey, json })).body;
  expect(await suggest({ query: '' })).toEqual({ questions: starterQuestions, pages: [] });
  expect(await suggest({ query: 'Retr' })).toEqual({
    questions: ['How do I set the retry limit?'],
    pages: [
      { path: 'guides/retries', url: 'https://docs.example.com/guides/retries', title: 'Retries', heading: null },
    ],
  });
  expect(await suggest({ query: 'launch code' })).toEqual({ questions: [], pages: [] });
  expect(await suggest({ query: 'x'.repeat(201) })).toEqual({ error: 'query must have at most 200 characters.' });
});
