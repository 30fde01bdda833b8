import { expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi } from '../api/serve.ts';
import type { Answer, ServedApi } from '../api/serve.ts';
import { buildIndexedSite, question } from './site.ts';
import type { TestSite } from './site.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

interface Pair extends AsyncDisposable {
  /** Alternates between all operations that ask, and between the two processes. */
  ask(site: TestSite, address: string, count: number): Promise<Answer[]>;
  apis: ServedApi[];
}

/** Two processes with one database that trust a proxy for the client's address. */
async function servePair(perHour: number, perIpPerDay: number): Promise<Pair> {
  await using cleanup = new AsyncDisposableStack();
  const env = {
    DOCKET_ASSISTANT_PER_HOUR: String(perHour),
    DOCKET_ASSISTANT_PER_IP_PER_DAY: String(perIpPerDay),
    DOCKET_TRUSTED_PROXIES: '1',
  };
  const apis: ServedApi[] = [];
  for (const _ of [1, 2]) apis.push(cleanup.use(await serveApi(database.pool, env)));
  const running = cleanup.move();
  return {
    apis,
    ask: ({ site: { domain }, assistantKey: key }, address, count) =>
      Promise.all(
        Array.from({ length: count }, (_, index) => {
          const ways: [string, unknown?][] = [
            [`/discovery/v2/assistant/${domain}/message`, question('retry limit?')],
            [`/discovery/v1/assistant/${domain}/message`, question('retry limit?')],
            [`/discovery/v1/search/${domain}`, { query: 'retry' }],
            [`/discovery/v1/page/${domain}`, { path: 'guides/install' }],
            [`/discovery/v2/assistant/${domain}/message/chat/stream`],
          ];
          const [path, json] = ways[index % ways.length]!;
          return apis[index % 2]!.ask(path, {
            key,
            json,
            headers: { 'x-forwarded-for': address, origin: 'https://a.example' },
          });
        }),
      ),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function countOf(answers: Answer[], isAccepted: boolean): number {
  return answers.filter(({ status }) => status < 300 === isAccepted).length;
}

it(
  'allows exactly as many requests of an organization as its limit, across two processes',
  { tags: ['slow'] },
  async () => {
    await using pair = await servePair(20, 1_000);
    const docs = await buildIndexedSite(database.pool);
    const other = await buildIndexedSite(database.pool);
    const addresses = ['203.0.113.1', '203.0.113.2', '203.0.113.3'];
    const answers = (await Promise.all(addresses.map((address) => pair.ask(docs, address, 20)))).flat();
    expect([countOf(answers, true), countOf(answers, false)]).toEqual([20, 40]);
    expect(countOf(await pair.ask(other, '203.0.113.1', 5), true)).toBe(5);
  },
);

it(
  'allows exactly as many requests of an address as its limit, whichever keys it uses',
  { tags: ['slow'] },
  async () => {
    await using pair = await servePair(1_000, 15);
    const sites = [await buildIndexedSite(database.pool), await buildIndexedSite(database.pool)];
    const answers = (await Promise.all(sites.map((site) => pair.ask(site, '203.0.113.10', 20)))).flat();
    expect([countOf(answers, true), countOf(answers, false)]).toEqual([15, 25]);
    expect(countOf(await pair.ask(sites[0]!, '203.0.113.11', 5), true)).toBe(5);
  },
);

it(
  'does not charge the address when the organization is refused, nor the other way round',
  { tags: ['slow'] },
  async () => {
    await using pair = await servePair(5, 8);
    const [first, second] = [await buildIndexedSite(database.pool), await buildIndexedSite(database.pool)];
    expect(countOf(await pair.ask(first, '203.0.113.20', 30), true)).toBe(5);
    expect(countOf(await pair.ask(second, '203.0.113.20', 30), true)).toBe(3);
    expect(countOf(await pair.ask(second, '203.0.113.21', 30), true)).toBe(2);
  },
);

it('returns the state of the limits and Retry-After with every answer, to pages of other origins too', async () => {
  await using pair = await servePair(2, 100);
  const docs = await buildIndexedSite(database.pool);
  const stands: (string | null)[] = [];
  for (let count = 0; count < 3; count += 1) {
    const [answer] = await pair.ask(docs, '203.0.113.30', 1);
    expect(answer?.headers.get('ratelimit-policy')).toBe('"ip";q=100;w=86400, "org";q=2;w=3600');
    expect(answer?.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer?.headers.get('access-control-expose-headers')).toContain('Retry-After,RateLimit,RateLimit-Policy');
    stands.push(answer?.headers.get('ratelimit') ?? null);
    if (count < 2) continue;
    expect(answer?.status).toBe(429);
    expect(Object.keys(answer?.body)).toEqual(['error']);
    expect(answer?.headers.get('content-type')).toContain('application/json');
    const seconds = Number(answer?.headers.get('retry-after'));
    expect(Number.isInteger(seconds) && seconds > 0 && seconds <= 7_200).toBe(true);
    expect(answer?.body.error).toContain(`${seconds} seconds`);
  }
  expect(stands).toEqual([
    expect.stringMatching(/^"ip";r=99;t=\d+, "org";r=1;t=\d+$/),
    expect.stringMatching(/^"ip";r=98;t=\d+, "org";r=0;t=\d+$/),
    expect.stringMatching(/^"ip";r=98;t=\d+, "org";r=0;t=\d+$/),
  ]);
});

it('counts neither preflights nor requests without a key', async () => {
  await using pair = await servePair(3, 3);
  const docs = await buildIndexedSite(database.pool);
  const [api] = pair.apis;
  const path = `/discovery/v2/assistant/${docs.site.domain}/message`;
  const headers = {
    'x-forwarded-for': '203.0.113.40',
    origin: 'https://a.example',
    'access-control-request-method': 'POST',
  };
  for (let count = 0; count < 10; count += 1) {
    expect((await api!.ask(path, { method: 'OPTIONS', headers })).status).toBe(204);
    expect((await api!.ask(path, { json: question('x'), headers })).status).toBe(401);
  }
  expect(countOf(await pair.ask(docs, '203.0.113.40', 5), true)).toBe(3);
  expect((await api!.ask(path, { method: 'OPTIONS', headers })).status).toBe(204);
});
