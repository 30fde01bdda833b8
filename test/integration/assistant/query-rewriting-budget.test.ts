import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { untilEarlyIn } from '../../support/early-in.ts';
import { ask, conversation, openRewritingScene, outcomesOf, query, type RewritingScene } from './rewriting-scene.ts';
import type { TestSite } from './site.ts';

let scene: RewritingScene;
beforeAll(async () => void (scene = await openRewritingScene()));
afterAll(() => scene[Symbol.asyncDispose]());
beforeEach(async () => {
  await untilEarlyIn('day');
  scene.model.requests.length = 0;
  scene.model.respondWith(query);
});

describe('the budget', () => {
  /** A query is reserved, and charged, at 0.015 dollars; the answer of the extractive model costs nothing. */
  const prices = { DOCKET_MODEL_PRICES: '{"compatible/rewriter": {"input": 0, "output": 50}}' };
  const followUps = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ messages: conversation('Retries?', 'Yes.', `And number ${at}?`) }));
  async function spent(site: TestSite): Promise<number> {
    const { rows } = await scene.database.pool.query<{ micros: number }>(
      'select cost_micros::int as micros from site_spending where site_id = $1',
      [site.site.id],
    );
    return rows[0]?.micros ?? 0;
  }

  it('of a site is not exceeded by queries at the same time, and they count as cost of the answers', async () => {
    await using api = await scene.serve(prices);
    const site = await scene.rewritingSite({ answerBudgetMicros: 40_000 });
    const answers = await Promise.all(followUps(6).map((question) => ask(api, site, question)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect([scene.model.requests.length, await spent(site)]).toEqual([2, 30_000]);
    expect(await outcomesOf(api)).toEqual({ rewritten: 2, over_budget: 4 });
    const { rows } = await scene.database.pool.query(
      `select cost_micros::int as micros, count(*)::int from thread_messages join threads on threads.id = thread_id
       where site_id = $1 and role = 'assistant' group by 1 order by 1`,
      [site.site.id],
    );
    expect(rows).toEqual([
      { micros: 0, count: 4 },
      { micros: 15_000, count: 2 },
    ]);
  });

  it('counts a call whose answer breaks off by what was sent, and one that is refused not at all', async () => {
    await using api = await scene.serve({
      DOCKET_MODEL_PRICES: '{"compatible/rewriter": {"input": 10, "output": 50}}',
    });
    const [interrupted, refused] = [await scene.rewritingSite(), await scene.rewritingSite()];
    scene.model.respondWith({ text: 'delay', cut: true });
    await ask(api, interrupted);
    const sent = (JSON.stringify(scene.model.requests[0]?.body.messages).length / 3.5) * 10;
    expect((await spent(interrupted)) / sent).toBeCloseTo(1, 1);
    await using fresh = await scene.serve(prices);
    scene.model.respondWith({ status: 500 });
    await ask(fresh, refused);
    expect([scene.model.requests.length, await spent(refused)]).toEqual([2, 0]);
  });

  it('of the organization lets the answer go on without a query', async () => {
    await using api = await scene.serve({ ...prices, DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY: '0.01' });
    const site = await scene.rewritingSite();
    const [first, second] = followUps(2);
    expect((await ask(api, site, first)).status).toBe(200);
    expect((await ask(api, site, second)).status).toBe(200);
    expect(scene.model.requests).toHaveLength(1);
    expect(await outcomesOf(api)).toEqual({ rewritten: 1, over_budget: 1 });
  });

  it('refuses a model without a price, and the log says so', async () => {
    await using api = await scene.serve();
    const site = await scene.rewritingSite({ answerBudgetMicros: 1_000_000 });
    expect((await ask(api, site)).status).toBe(200);
    expect(scene.model.requests).toEqual([]);
    expect(api.log()).toContain('the price of compatible/rewriter is unknown');
  });
});

it('is a setting of a site, which names a model of a provider', async () => {
  await using api = await scene.serve();
  const set = async (queryRewriting: unknown) => {
    const path = `/v1/sites/${scene.plain.site.domain}`;
    const { status, body } = await api.ask(path, {
      method: 'PATCH',
      key: scene.plain.adminKey,
      json: { queryRewriting },
    });
    return [status, body.queryRewriting ?? body.error ?? null];
  };
  expect(await set('compatible/small')).toEqual([200, 'compatible/small']);
  expect(await set('openai/small')).toEqual([400, 'The model "openai/small" needs OPENAI_API_KEY to be set.']);
  expect(await set('offline/extract')).toEqual([400, expect.stringContaining('the offline models rewrite nothing')]);
  expect(await set('small')).toEqual([400, expect.stringContaining('provider and a model')]);
  expect(await set(null)).toEqual([200, null]);
  const json = { domain: 'made', repository: 'https://github.com/acme/docs', queryRewriting: 'openai/small' };
  expect((await api.ask('/v1/sites', { key: scene.plain.adminKey, json })).status).toBe(400);
});
