import { expect, it } from 'vitest';
import { createEvaluationStore } from '../../../db/sites/evaluations.ts';
import { createQuestionSetStore } from '../../../db/sites/question-sets.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi } from '../api/serve.ts';
import { buildIndexedSite } from '../assistant/site.ts';

it('lists sets and evaluations with the numbers of their questions, which it does not read', async () => {
  await using database = await createTestDatabase();
  await using api = await serveApi(database.pool);
  const { site, adminKey: key } = await buildIndexedSite(database.pool);
  const ask = (path: string, json?: object) => api.ask(`/v1/sites/${site.domain}${path}`, { key, json });
  const set = await ask('/question-sets', { name: 'Basics', questions: [{ text: 'One?' }, { text: 'Two?' }] });
  await ask('/evaluations', { setId: set.body.id });

  const { pool } = database;
  const stored = [createQuestionSetStore(pool).list(site), createEvaluationStore(pool).list(site)];
  expect(await Promise.all(stored)).toMatchObject([[{ questions: 2 }], [{ questions: 2, results: 0 }]]);
  const { sets } = (await ask('/question-sets')).body;
  expect(sets).toMatchObject([{ id: set.body.id, name: 'Basics', questions: 2 }]);
  const { evaluations } = (await ask('/evaluations')).body;
  expect(evaluations).toMatchObject([{ setId: set.body.id, setName: 'Basics', questions: 2, asked: 0 }]);
});
