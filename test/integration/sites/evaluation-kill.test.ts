import { expect, it } from 'vitest';
import { createQuestionSetStore } from '../../../db/sites/question-sets.ts';
import { createEvaluationStore } from '../../../db/sites/evaluations.ts';
import { operatorOf } from '../../../db/caller.ts';
import { startApi } from '../../support/stack/api-process.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { openLine } from '../../support/servers/line.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { buildIndexedSite } from '../assistant/site.ts';

const patient = { timeout: 60_000 };

it(
  'an evaluation goes on in another process after a kill, and pays for no stored answer again',
  { tags: ['slow'], timeout: 240_000 },
  async () => {
    await using database = await createTestDatabase();
    await using model = await startScriptedModelServer();
    await using temporal = await openLine({ hostname: '127.0.0.1', port: '1' }, { isCut: true });
    const env = {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
      DOCKET_ASSISTANT_MODEL: 'compatible/x',
      OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
      OPENAI_COMPATIBLE_API_KEY: 'key',
    };
    const { site } = await buildIndexedSite(database.pool);
    const caller = operatorOf(site);
    const evaluations = createEvaluationStore(database.pool);
    const questions = ['How do I set the retry limit?', 'What is the delay?', 'How do I install the widget?'].map(
      (text) => ({
        text,
        expectedPages: [],
        expectedFacts: [],
        expectsAnswer: true,
        origin: 'manual' as const,
      }),
    );
    const set = await createQuestionSetStore(database.pool).create(caller, site.id, { name: 'Basics', questions });
    const configurations = [{ model: 'compatible/x', instructions: null, retrievalPageSize: 5 }];
    const { id } = await evaluations.create(caller, site.id, { set, configurations });
    const stateOf = async () => {
      const found = await evaluations.find(site, id);
      return [found?.state, found?.results.map(({ answer }) => answer)];
    };

    model.script({ text: 'The first.' }, { text: 'Never sent.', stall: true });
    await using first = startApi(env);
    await first.logged('api ready');
    await model.nextRequest();
    const second = await model.nextRequest();
    expect(await stateOf()).toEqual(['running', ['The first.']]);
    first.child.kill('SIGKILL');
    await first.ended;
    expect(await second.closed).toBe('aborted');

    model.script({ text: 'The second.' }, { text: 'The third.' });
    // the killed process holds its lease for two minutes
    await database.pool.query('update evaluations set claimed_until = now()');
    await using next = startApi(env);
    await next.logged('api ready');
    await expect.poll(stateOf, patient).toEqual(['completed', ['The first.', 'The second.', 'The third.']]);
    const asked = model.requests.map(({ body }) => JSON.stringify(body.messages));
    const timesAsked = questions.map(({ text }) => asked.filter((messages) => messages.includes(text)).length);
    expect(timesAsked).toEqual([1, 2, 1]);
    expect(model.violations).toEqual([]);
  },
);
