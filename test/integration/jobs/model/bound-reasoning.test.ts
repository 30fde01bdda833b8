import { afterEach, expect, it, vi } from 'vitest';
import { createModelRegistry } from '../../../../models/registry.ts';
import { startAnthropicServer } from '../../../support/servers/anthropic-server.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { createTestRepository } from '../../../support/git-repository.ts';
import { startTestWorker } from '../../../support/stack/worker.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
afterEach(() => vi.unstubAllEnvs());

/** Number of steps after which the outputs of the first ones are masked. */
const steps = 15;

it('masks outputs and leaves out tools that reasoning is bound to', { tags: 'slow' }, async () => {
  await using repository = await createTestRepository({
    'large.txt': 'A line of text\n'.repeat(2_000),
    'small.txt': 'A line of text\n'.repeat(20),
  });
  const finish = { name: 'finish', input: { title: 'Read all', summary: 'All read.', complete: true } };
  const read = (step: number) => ({
    name: 'read',
    input: { path: step < 4 ? 'large.txt' : 'small.txt', offset: step },
  });
  await using server = await startAnthropicServer((step) => [step > steps ? finish : read(step)], { thinks: true });
  vi.stubEnv('ANTHROPIC_BASE_URL', server.baseUrl);
  await using worker = await startTestWorker({
    database,
    change: () => ({ models: createModelRegistry({ anthropicApiKey: 'key-of-anthropic' }) }),
  });
  const model = 'anthropic/claude-sonnet-5-5';
  const id = await worker.createJob({ prompt: 'Read everything', repository: repository.path, model });
  await worker.startJob(id, { maxSteps: steps + 1, maxTokens: 1e9 });
  expect(await worker.ended(id)).toMatchObject({ status: 'completed', steps: steps + 1 });
  const [last, ...others] = server.dropped.toReversed();
  expect(last).toBe(steps);
  // only what was made from the whole outputs
  expect(Math.max(...others)).toBeGreaterThan(0);
  expect(Math.max(...others)).toBeLessThan(steps);
});
