import { describe, expect, it } from 'vitest';
import { buildIndexedSite } from '../../assistant/site.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { readerRequests, sendAsReader } from './reader-requests.ts';
import { serveApi } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const own = 'https://docs.example.com';
const below = 'https://*.acme.example';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));
const docs = ofFile(() => buildIndexedSite(database.pool));
async function createKey(json: object) {
  return api.ask('/v1/keys', { key: docs.adminKey, json: { kind: 'assistant', ...json } });
}

describe('a key with allowed origins', () => {
  it('works in all requests of its pages, and in none of others', { tags: ['slow'] }, async () => {
    const { body } = await createKey({ allowedOrigins: [own, below] });
    expect(body).toMatchObject({ allowedOrigins: [own, below], allowsNoOrigin: false });
    for (const request of readerRequests(docs.site.domain)) {
      for (const origin of [own, 'https://help.acme.example']) {
        const { status, headers } = await sendAsReader(api, body.key, request, { origin: origin });
        expect([request, status === 403, status === 401]).toEqual([request, false, false]);
        expect(headers.get('access-control-allow-origin')).toBe(origin);
        expect(headers.get('vary')?.toLowerCase()).toContain('origin');
      }
      for (const origin of ['https://evil.example', 'https://acme.example', 'http://docs.example.com', 'null', '']) {
        const refused = await sendAsReader(api, body.key, request, { origin: origin });
        expect([request, origin, refused.status, refused.body]).toEqual([
          request,
          origin,
          403,
          { error: "This API key may not be used on this website. Add the website's origin to the key." },
        ]);
      }
      const refused = await sendAsReader(api, body.key, request, { origin: null });
      expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining('on websites only')]);
    }
  });

  it('does not count refused requests against the limits of its organization', async () => {
    const { body } = await createKey({ allowedOrigins: [own] });
    const [, asked] = readerRequests(docs.site.domain);
    const { headers } = await sendAsReader(api, body.key, asked!, { origin: 'https://evil.example' });
    expect(headers.get('ratelimit')).toBeNull();
  });

  it('is changed within seconds, also to allow requests without an origin', { tags: 'slow' }, async () => {
    const { body } = await createKey({});
    const search = readerRequests(docs.site.domain)[7]!;
    expect(
      (await sendAsReader(api, body.key, search, { origin: 'https://evil.example' })).headers.get(
        'access-control-allow-origin',
      ),
    ).toBe('*');
    const change = (json: object) => api.ask(`/v1/keys/${body.id}`, { method: 'PATCH', key: docs.adminKey, json });
    expect((await change({ allowedOrigins: [own] })).body).toMatchObject({ allowedOrigins: [own], id: body.id });
    const statusOf = async (origin: string | null) =>
      (await sendAsReader(api, body.key, search, { origin: origin })).status;
    await expect.poll(() => statusOf('https://evil.example')).toBe(403);
    expect([await statusOf(own), await statusOf(null)]).toEqual([200, 403]);
    expect((await change({ allowsNoOrigin: true })).body).toMatchObject({
      allowedOrigins: [own],
      allowsNoOrigin: true,
    });
    await expect.poll(() => statusOf(null)).toBe(200);
    expect([await statusOf(own), await statusOf('null')]).toEqual([200, 403]);
    const { rows } = await database.pool.query(
      "select action, details from audit_entries where subject = $1 and action = 'key.change' order by created_at",
      [body.id],
    );
    expect(rows.map(({ details }) => details)).toEqual([
      { fields: ['allowedOrigins'] },
      { fields: ['allowsNoOrigin'] },
    ]);
  });
});

it.each<[string, object]>([
  ['an address with a path', { allowedOrigins: [`${own}/guides`] }],
  ['every origin below a top-level domain', { allowedOrigins: ['https://*.com'] }],
  ['no origin', { allowedOrigins: ['null'] }],
  ['too many origins', { allowedOrigins: Array.from({ length: 51 }, (_, at) => `https://d${at}.example`) }],
  ['origins of an admin key', { kind: 'admin', allowedOrigins: [own] }],
])('a key with %s is refused', async (_what, json) => {
  const answer = await createKey(json);
  expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['error']]);
});

it('an admin key is not limited to origins', async () => {
  const { body } = await api.ask('/v1/keys', { key: docs.adminKey, json: { kind: 'admin' } });
  const json = { allowedOrigins: [own] };
  expect((await api.ask(`/v1/keys/${body.id}`, { method: 'PATCH', key: docs.adminKey, json })).status).toBe(404);
});
