import { expect, it } from 'vitest';
import { operatorOf } from '../../../db/caller.ts';
import { createEvaluationStore } from '../../../db/sites/evaluations.ts';
import { createQuestionSetStore } from '../../../db/sites/question-sets.ts';
import type { SiteRow } from '../../../db/sites/sites.ts';
import { buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { openLine } from '../../support/servers/line.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startApi } from '../../support/stack/api-process.ts';
import { buildIndexedSite, pages, publishPages } from '../assistant/site.ts';

const patient = { timeout: 60_000 };

it(
  "a long evaluation holds up those of its organization, not another's",
  { tags: ['slow'], timeout: 120_000 },
  async () => {
    await using database = await createTestDatabase();
    await using model = await startScriptedModelServer();
    await using temporal = await openLine({ hostname: '127.0.0.1', port: '1' }, { isCut: true });
    const evaluations = createEvaluationStore(database.pool);

    /** Starts an evaluation with one question, and returns a function that returns its state. */
    async function evaluate(site: SiteRow, text: string) {
      const caller = operatorOf(site);
      const expected = { expectedPages: [], expectedFacts: [], expectsAnswer: true, origin: 'manual' as const };
      const questions = [{ text, ...expected }];
      const set = await createQuestionSetStore(database.pool).create(caller, site.id, { name: 'Basics', questions });
      const configurations = [{ model: 'compatible/x', instructions: null, retrievalPageSize: 5 }];
      const { id } = await evaluations.create(caller, site.id, { set, configurations });
      return async () => (await evaluations.find(site, id))?.state;
    }

    const { site: ours, organizationId } = await buildIndexedSite(database.pool);
    const second = await buildSite(database.pool, { organizationId });
    await publishPages(database.pool, second, pages);
    const { site: theirs } = await buildIndexedSite(database.pool);
    const long = await evaluate(ours, 'How do I set the retry limit slowly?');
    const next = await evaluate(second, 'How do I set the retry limit next?');
    const other = await evaluate(theirs, 'How do I set the retry limit of others?');
    model.respondWith(({ body }) => ({
      text: 'Set `retryLimit`.',
      stall: JSON.stringify(body.messages).includes('slowly'),
    }));
    await using api = startApi({
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}`,
      DOCKET_ASSISTANT_MODEL: 'compatible/x',
      OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
      OPENAI_COMPATIBLE_API_KEY: 'key',
    });
    await api.logged('api ready');
    await expect.poll(other, patient).toBe('completed');
    expect(await Promise.all([long(), next()])).toEqual(['running', 'running']);
    expect(JSON.stringify(model.requests.map(({ body }) => body))).not.toContain('next?');
  },
);
