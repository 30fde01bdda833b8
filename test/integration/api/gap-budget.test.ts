import { expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { serveApi } from './serve.ts';
import { stageGaps } from './stage-gaps.ts';

it('asks the questions of a gap again with the model of the site, after the day on which its budget is spent', async () => {
  await using database = await createTestDatabase();
  await using model = await startScriptedModelServer();
  model.respondWith({
    text: 'I could not find this in the documentation.',
    usage: { inputTokens: 0, outputTokens: 1 },
  });
  const env = {
    DOCKET_ASSISTANT_MODEL: 'compatible/x',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
    DOCKET_MODEL_PRICES: '{"compatible/x": {"input": 0, "output": 50}}',
  };
  await using api = await serveApi(database.pool, env, { indexPollMs: 50 });
  const { ask, gaps, admin, site } = await stageGaps(database, api);
  // its pages are about the retry limit, so that quotes of them look like an answer
  await ask('How do I set the retry limit?');
  const [gap] = await gaps();
  await admin(`/gaps/${gap?.id}/check`, { method: 'POST' });
  // a call is reserved at $0.40
  await admin('', { method: 'PATCH', json: { answerBudgetUsd: 0.4 } });
  await database.pool.query('update sites set index_requested_at = null where id = $1', [site.id]);
  await api.checkGaps();
  expect(await gaps()).toMatchObject([{ state: 'asking', questions: [{ answeredNow: null }] }]);

  await database.pool.query('delete from site_spending; update gaps set claimed_until = now()');
  await api.checkGaps();
  expect(await gaps()).toMatchObject([{ state: 'unanswered', questions: [{ answeredNow: false }] }]);
});
