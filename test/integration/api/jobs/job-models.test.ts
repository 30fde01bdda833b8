import { describe, expect, it } from 'vitest';
import { createStepStore } from '../../../../db/for-worker/steps.ts';
import { buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { serveApi } from '../serve.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() =>
  serveApi(database.pool, {
    DOCKET_JOBS_PER_HOUR: '100000',
    OPENAI_COMPATIBLE_BASE_URL: 'http://127.0.0.1:9/v1',
  }),
);

async function newProject() {
  const project = await buildProject(database.pool);
  const { key } = await buildKey(database.pool, project);
  const path = `/v2/agent/${project.id}/job`;
  return {
    create: (json: object, headers: Record<string, string> = {}) =>
      api.ask(path, { key, json: { prompt: 'Go', ...json }, headers }),
    change: (json: object) => api.ask(`/v1/projects/${project.id}`, { key, method: 'PATCH', json }),
    show: () => api.ask(`/v1/projects/${project.id}`, { key }),
    fork: (id: string, json: object) => api.ask(`${path}/${id}/fork`, { key, json: { step: 1, ...json } }),
    step: (id: string) => api.ask(`${path}/${id}/steps/1/1`, { key }),
  };
}

const a = 'compatible/a';
const b = 'compatible/b';

describe('the models of a job', () => {
  it('are its own, else those of its project, else the one of the service', async () => {
    const { create, change, show } = await newProject();
    expect((await create({})).body).toMatchObject({ model: 'offline/editor', details: { models: ['offline/editor'] } });
    const settings = { models: [a, b], reasoningEffort: 'high', maxOutputTokens: 16_000 };
    expect((await change(settings)).body).toMatchObject({ ...settings, model: a });
    expect((await show()).body).toMatchObject({ ...settings, model: a });
    const { models, ...others } = settings;
    expect((await create({})).body).toMatchObject({ model: a, details: { models, ...others } });
    // one model alone has no other
    expect((await create({ model: b })).body).toMatchObject({ model: b, details: { models: [b] } });
    expect((await create({ models: [b, a], reasoningEffort: 'low', maxOutputTokens: null })).body).toMatchObject({
      model: b,
      details: { models: [b, a], reasoningEffort: 'low', maxOutputTokens: null },
    });
    expect((await change({ model: b })).body).toMatchObject({ model: b, models: [b], reasoningEffort: 'high' });
    expect((await change({ models: null, reasoningEffort: null })).body).toMatchObject({
      model: null,
      models: null,
      reasoningEffort: null,
      maxOutputTokens: 16_000,
    });
  });

  it('belong to the request that an Idempotency-Key repeats', async () => {
    const { create } = await newProject();
    const headers = { 'idempotency-key': 'once' };
    const first = await create({ models: [a, b] }, headers);
    expect(first.status).toBe(201);
    expect((await create({ models: [a, b] }, headers)).body.id).toBe(first.body.id);
    for (const other of [{ models: [b, a] }, { models: [a] }, { models: [a, b], reasoningEffort: 'low' }, {}])
      expect((await create(other, headers)).status).toBe(409);
    expect((await create({ reasoningEffort: null }, { 'idempotency-key': 'twice' })).status).toBe(201);
    expect((await create({}, { 'idempotency-key': 'twice' })).status).toBe(409);
  });

  it('are taken over by a fork, or replaced, and a step keeps the one that answered', async () => {
    const { create, fork, step } = await newProject();
    const { id } = (await create({ models: [a, b], reasoningEffort: 'low' })).body;
    const steps = createStepStore(database.pool);
    await steps.claim({ jobId: id, turn: 1, step: 1 });
    await steps.storeResponse({
      jobId: id,
      turn: 1,
      step: 1,
      model: b,
      requestHash: 'h',
      finishReason: 'stop',
      costMicros: 7,
      response: { content: [], text: 'Done.', toolCalls: [] },
      usage: { inputTokens: 1, outputTokens: 1 },
    });
    expect((await step(id)).body).toMatchObject({ model: b, failedModels: [] });
    const prompt = { prompt: 'More' };
    const same = await fork(id, prompt);
    expect(same.body).toMatchObject({ model: a, details: { models: [a, b], reasoningEffort: 'low' } });
    expect((await step(same.body.id)).body).toMatchObject({ model: b });
    expect((await fork(id, { ...prompt, model: b })).body.details.models).toEqual([b]);
    expect((await fork(id, { ...prompt, models: [b, a] })).body.details.models).toEqual([b, a]);
    expect((await fork(id, { ...prompt, model: a, models: [b] })).status).toBe(400);
  });

  it.each<[string, object, RegExp]>([
    ['model and models', { model: a, models: [b] }, /model and models must not be sent together/],
    ['no models', { models: [] }, /models/],
    ['five models', { models: ['a', 'b', 'c', 'd', 'e'].map((name) => `compatible/${name}`) }, /models/],
    ['a model twice', { models: [a, b, a] }, /must not name a model twice/],
    ['a second model without a key here', { models: [a, 'anthropic/claude-sonnet-4-5'] }, /ANTHROPIC_API_KEY/],
    ['a second model of an unknown provider', { models: [a, 'nobody/x'] }, /must be a model of one of/],
    ['a text for models', { models: a }, /models/],
    ['an unknown effort', { reasoningEffort: 'extreme' }, /reasoningEffort/],
    ['a limit below a thousand', { maxOutputTokens: 999 }, /maxOutputTokens/],
    ['a limit above every model', { maxOutputTokens: 128_001 }, /maxOutputTokens/],
    ['a broken limit', { maxOutputTokens: 1_000.5 }, /maxOutputTokens/],
  ])('refuse %s with one sentence, of a job and of a project', async (_, json, sentence) => {
    const { create, change } = await newProject();
    for (const answer of [await create(json), await change(json)]) {
      expect(answer.status).toBe(400);
      expect(answer.body).toEqual({ error: expect.stringMatching(sentence) });
    }
  });

  it('refuse whatever else is sent, and change nothing', async () => {
    const { create, change, show } = await newProject();
    const before = (await show()).body;
    const value = fc.oneof(fc.anything({ maxDepth: 2 }), fc.array(fc.string(), { maxLength: 6 }), fc.double());
    const field = fc.constantFrom('models', 'reasoningEffort', 'maxOutputTokens');
    await fc.assert(
      fc.asyncProperty(field, value, async (name, given) => {
        const text = JSON.stringify({ [name]: given });
        fc.pre(text !== '{}' && !/^\{"\w+":(null|"(low|medium|high)"|\d+)\}$/.test(text));
        const json = JSON.parse(text);
        for (const answer of [await create(json), await change(json)]) {
          expect(answer.status).toBe(400);
          expect(Object.keys(answer.body)).toEqual(['error']);
        }
      }),
      { numRuns: propertyRuns(100) },
    );
    expect((await show()).body).toEqual(before);
  });
});
