import { afterAll, beforeAll, expect, it } from 'vitest';
import { createConversationStore } from '../../../db/sites/conversations.ts';
import { answerOf, endingOf } from '../../support/sdk-clients/open-stream.ts';
import { serveModelApi, type ModelApi } from './model-api.ts';

let api: ModelApi;
beforeAll(async () => {
  api = await serveModelApi();
});
afterAll(() => api?.[Symbol.asyncDispose]());

it('ends an answer at 200,000 characters of a step, whatever the model goes on to say', async () => {
  api.model.script({ text: Array(250).fill('word '.repeat(200)), stall: 250 });
  const stream = await api.ask('v2');
  expect(await stream.ended).toBe('complete');
  expect([endingOf(stream.text()), answerOf(stream.text()).length]).toEqual(['failed', 200_000]);
});

it('allows an address 100 answers in progress without affecting another address', async () => {
  const most = 100;
  const { model } = api;
  model.respondWith({ text: 'one', stall: true });
  const ask = () => api.ask('v2');
  const streams = await Promise.all(Array.from({ length: most }, ask));
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
  for (const protocol of ['v1', 'v2'] as const) {
    const refused = await api.ask(protocol);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
    await refused.ended;
    expect(JSON.parse(refused.text())).toEqual({
      error: `This IP address already has ${most} answers in progress. Wait for one to finish.`,
    });
  }
  const call = await model.nextRequest();
  const elsewhere = await api.ask('v2', {}, { localAddress: '127.0.0.2' });
  expect(elsewhere.status).toBe(200);
  for (const stream of [...streams, elsewhere]) stream.leave();
  expect(await call.closed).toBe('aborted');
  await expect.poll(() => model.pending()).toBe(0);
  const next = await ask();
  expect(next.status).toBe(200);
  next.leave();
}, 60_000);

it('reads other readers’ unanswered questions even when one reader has asked thousands', async () => {
  const { site, organizationId } = api.docs;
  await api.database.pool.query(
    `with asked as (
       select 'thr_' || lpad(at::text, 24, '0') as id, at, case at when 1 then 'reader' else 'flood' end as fp
       from generate_series(1, 2500) as at
     ), opened as (
       insert into threads (id, site_id, organization_id, fp) select id, $1, $2, fp from asked
     )
     insert into thread_messages (thread_id, id, role, content, answered, ending)
     select id, role, role, fp || at, case role when 'assistant' then false end,
            case role when 'assistant' then 'finished' end
     from asked, unnest(array['user', 'assistant']) with ordinality as roles (role, nth)
     order by at, nth`,
    [site.id, organizationId],
  );
  const unanswered = await createConversationStore(api.database.pool).listUnanswered(site, 2_000);
  expect(unanswered.map(({ text }) => text).filter((text) => text.startsWith('reader'))).toEqual(['reader1']);
  const ofFlood = unanswered.map(({ text }) => text).filter((text) => text.startsWith('flood'));
  expect([ofFlood.length, ofFlood[0]]).toEqual([200, 'flood2500']);
});
