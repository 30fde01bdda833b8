import { expect, it } from 'vitest';
import { questionSetSchema } from '../../../api/evaluations/schemas.ts';
import { createTestDatabase, untilBlocked } from '../../support/database/database.ts';
import { serveApi, type AskOptions } from '../api/serve.ts';
import { buildIndexedSite } from '../assistant/site.ts';

it('refuses a change of a question set that has changed since it was read', async () => {
  await using database = await createTestDatabase();
  await using api = await serveApi(database.pool);
  const docs = await buildIndexedSite(database.pool);
  const ask = (path: string, request: AskOptions = {}) =>
    api.ask(`/v1/sites/${docs.site.domain}/question-sets${path}`, { key: docs.adminKey, ...request });
  const set = questionSetSchema.parse(
    (await ask('', { json: { name: 'Basics', questions: [{ text: 'How do I start?' }] } })).body,
  );
  const change = (json: object) => ask(`/${set.id}`, { method: 'PATCH', json });
  const refusal = {
    status: 409,
    body: { error: 'The question set has changed since it was read. Read it again, and repeat the change.' },
  };
  const { updatedAt } = set;
  const [one, other] = await Promise.all(['one', 'other'].map((text) => change({ questions: [{ text }], updatedAt })));
  const [changed, refused] = one!.status === 200 ? [one, other] : [other, one];
  expect(changed!.status).toBe(200);
  expect(refused).toMatchObject(refusal);
  expect(await change({ name: 'Stale', updatedAt })).toMatchObject(refusal);
  expect((await ask(`/${set.id}`)).body).toEqual(changed!.body);
  expect((await change({ name: 'Fresh', updatedAt: changed!.body.updatedAt })).status).toBe(200);
  expect((await change({ name: 'Whatever it was' })).status).toBe(200);

  const client = await database.pool.connect();
  try {
    await client.query('begin');
    await client.query(`update question_sets set questions = '[]', updated_at = now() where id = $1`, [set.id]);
    const adding = ask(`/${set.id}/questions`, { json: { from: 'conversations' } });
    await untilBlocked(database);
    await client.query('commit');
    expect(await adding).toMatchObject(refusal);
  } finally {
    client.release();
  }
  expect((await ask(`/${set.id}`)).body.questions).toEqual([]);
});
