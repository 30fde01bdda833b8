import { afterAll, beforeAll, expect, it } from 'vitest';
import { endingOf, openStream } from '../../support/sdk-clients/open-stream.ts';
import { serveModelApi } from './model-api.ts';
import type { ModelApi } from './model-api.ts';

let api: ModelApi;

beforeAll(async () => {
  api = await serveModelApi({ instances: 2 });
});

afterAll(() => api?.[Symbol.asyncDispose]());

it.each(['v1', 'v2'] as const)(
  'a reader of %s stops an answer from another process, while its model is silent',
  async (protocol) => {
    const { apis, docs, model } = api;
    const chatId = `chat-${protocol}`;
    const address = `${apis[1]!.url}/discovery/${protocol}/assistant/${docs.site.domain}/message/${chatId}/stream`;
    const withToken = (token: string) => ({ authorization: `Bearer ${docs.assistantKey}`, 'x-resume-token': token });
    const stop = async (token: string) =>
      (await fetch(address, { method: 'DELETE', headers: withToken(token) })).status;

    model.script({ text: ['one ', 'two ', 'three ', 'four'], stall: 2 });
    const reader = await api.ask(protocol, { id: chatId, resumable: true });
    await reader.until('one ');
    const token = String(reader.headers['x-resume-token']);
    const call = model.requests.at(-1)!;
    expect(await stop('wrong')).toBe(204);
    const follower = await openStream(address, { headers: withToken(token) });
    await follower.until('one ');

    expect(await stop(token)).toBe(204);
    expect(await call.closed).toBe('aborted');
    expect(await Promise.all([reader.ended, follower.ended])).toEqual(['complete', 'complete']);
    expect([endingOf(reader.text()), endingOf(follower.text())]).toEqual(['finished', 'finished']);
    expect((await openStream(address, { headers: withToken(token) })).status).toBe(204);
    expect(await stop(token)).toBe(204);
    expect(model.violations).toEqual([]);
  },
);
