import { expect, it } from 'vitest';
import { createPriceBook } from '../../../../models/prices.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { createTestRepository } from '../../../support/git-repository.ts';
import { startScriptedModelServer } from '../../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../../support/stack/worker.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const key = 'model-key-0123456789';
const finish = { name: 'finish', input: { title: 'Done', summary: 'Wrote it.', complete: true } };

it(
  'stores no key that a model returns as the id of a call, and credits no negative token counts',
  { tags: ['slow'] },
  async () => {
    await using database = await createTestDatabase();
    await using repository = await createTestRepository();
    await using model = await startScriptedModelServer();
    const prices = createPriceBook({ 'compatible/scripted': { input: 10, output: 10 } });
    const options = { database, modelUrl: model.baseUrl };
    await using worker = await startTestWorker({ ...options, change: () => ({ prices }) });
    const write = (path: string, id: string) => ({ name: 'write', id, input: { path, content: 'x\n' } });
    model.script(
      {
        toolCalls: [write('a.txt', key), write('b.txt', `call_${key}`)],
        usage: { inputTokens: -1_000_000, outputTokens: -1_000_000 },
      },
      { toolCalls: [write('c.txt', 'call_3')], usage: { inputTokens: 1e300, outputTokens: 0.5 } },
      { toolCalls: [finish] },
    );
    const job = await worker.runJob({ prompt: 'Write', repository: repository.path });
    expect(job).toMatchObject({ status: 'completed' });
    expect(model.violations).toEqual([]);
    const { rows: steps } = await database.pool.query(
      'select input_tokens::float8 as input, output_tokens::float8 as output, cost_micros::float8 as cost from job_steps order by step',
    );
    expect(steps).toHaveLength(3);
    for (const { input, output, cost } of steps) {
      expect(input).toBeGreaterThan(0);
      expect(output).toBeGreaterThan(0);
      expect(cost).toBe((input + output) * 10);
    }
    const { rows: kept } = await database.pool.query(
      'select response::text || tool_results::text as text from job_steps union all select data::text from job_events',
    );
    expect(kept.filter(({ text }) => text?.includes(key))).toEqual([]);
  },
);

it('runs calls whose values a model wrote as text or null, and checks their paths', async () => {
  await using database = await createTestDatabase();
  await using stack = await startJobStack({ database, files: { 'a.md': 'one\ntwo\n' } });
  const { repository, model, worker } = stack;
  const edits = (text: string) => JSON.stringify([{ old: text, new: 'new', replaceAll: 'true' }]);
  model.script(
    {
      toolCalls: [
        { name: 'multi_edit', input: { path: 'a.md', edits: edits('one'), etag: null } },
        { name: 'multi_edit', input: { path: '.github/workflows/a.yml', edits: edits('one'), etag: null } },
        { name: 'read', input: { path: 'a.md', offset: '2' } },
      ],
    },
    { toolCalls: [{ ...finish, input: { ...finish.input, complete: 'true', checked: null } }] },
  );
  const job = await worker.runJob({ prompt: 'Write', repository: repository.path });
  expect(job).toMatchObject({ status: 'completed', title: 'Done' });
  expect(await repository.read(job.headCommit!)).toEqual({ 'a.md': '100644 new\ntwo' });
  const { rows } = await database.pool.query('select tool_results from job_steps order by step');
  expect(rows[0].tool_results.map(({ output }: { output: string }) => output)).toEqual([
    expect.stringContaining('Edited a.md: 1 region at line 1'),
    expect.stringContaining('this project does not let jobs change it'),
    expect.stringMatching(/\n {5}2\|two$/),
  ]);
  expect(model.violations).toEqual([]);
});
