import { afterEach, expect, it, vi } from 'vitest';
import { createPriceBook } from '../../../../models/prices.ts';
import { createModelRegistry } from '../../../../models/registry.ts';
import { startAnthropicServer } from '../../../support/servers/anthropic-server.ts';
import { startGatewayServer } from '../../../support/servers/gateway-server.ts';
import { startOpenAiServer } from '../../../support/servers/openai-server.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { createTestRepository } from '../../../support/git-repository.ts';
import { startTestWorker } from '../../../support/stack/worker.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
afterEach(() => vi.unstubAllEnvs());

const steps = 50;
const vendors = {
  Anthropic: { model: 'anthropic/claude-sonnet-4-5', variable: 'ANTHROPIC_BASE_URL', start: startAnthropicServer },
  OpenAI: { model: 'openai/gpt-5', variable: 'OPENAI_BASE_URL', start: startOpenAiServer },
  'a gateway': {
    model: 'compatible/anthropic/claude-sonnet-4.5',
    variable: 'OPENAI_COMPATIBLE_BASE_URL',
    start: startGatewayServer,
  },
};
/** Files of 4 to 13 KB in folders, one of which has its own guidance. */
const files = Object.fromEntries(
  Array.from({ length: 40 }, (_, index) => [
    `${index % 4}/${index}.txt`,
    `${String(index).repeat(8)} line\n`.repeat(400 + (index % 5) * 100),
  ]),
);

/** Reads, one at a time but for one step, and now and then a change. */
function callsOf(step: number) {
  if (step > steps) return [{ name: 'finish', input: { title: 'Read all', summary: 'All read.' } }];
  if (step % 10 === 0)
    return [{ name: 'write', input: { path: `note-${step}.txt`, content: `${step}\n`.repeat(200) } }];
  return Array.from({ length: step === 5 ? 12 : 1 }, (_, more) => {
    const index = (step + more) % 40;
    return { name: 'read', input: { path: `${index % 4}/${index}.txt` } };
  });
}

async function runJob({ window, vendor }: { window: number; vendor: keyof typeof vendors }) {
  const { model, variable, start } = vendors[vendor];
  await using repository = await createTestRepository({
    ...files,
    'AGENTS.md': 'Be brief.\n'.repeat(100),
    '3/AGENTS.md': 'Be exact.\n'.repeat(100),
  });
  await using server = await start(callsOf);
  vi.stubEnv(variable, server.baseUrl);
  await using worker = await startTestWorker({
    database,
    change: () => ({
      models: createModelRegistry({
        anthropicApiKey: 'key-of-anthropic',
        openaiApiKey: 'key-of-openai',
        compatible: { baseUrl: server.baseUrl, marksPrefixes: true },
      }),
      prices: createPriceBook({ [model]: { window, input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 } }),
    }),
  });
  const id = await worker.createJob({ prompt: 'Read everything', repository: repository.path, model });
  await worker.startJob(id, { maxSteps: steps + 10, maxTokens: 1e9 });
  return { job: await worker.ended(id), uses: server.uses };
}

it.each([
  { vendor: 'Anthropic', name: 'masks old outputs', window: 200_000, isCompacted: false, misses: 2 },
  { vendor: 'Anthropic', name: 'is compacted', window: 100_000, isCompacted: true, misses: 3 },
  { vendor: 'a gateway', name: 'masks old outputs', window: 200_000, isCompacted: false, misses: 2 },
  { vendor: 'a gateway', name: 'is compacted', window: 100_000, isCompacted: true, misses: 3 },
] as const)(
  'a job of 50 steps that $name has most of its input in the cache of $vendor',
  { tags: 'slow' },
  async ({ vendor, window, isCompacted, misses }) => {
    const { job, uses } = await runJob({ window, vendor });
    expect(job).toMatchObject({ status: 'completed', steps: steps + 1 });
    // the call that compacts is no part of the conversation
    expect(uses.some(({ breakpoints }) => breakpoints === 0)).toBe(isCompacted);
    const calls = uses.filter(({ breakpoints }) => breakpoints > 0);
    const missed = calls.filter((use, at) => use.read < (calls[at - 1]?.read ?? 0) + (calls[at - 1]?.written ?? 0));
    expect(missed.length).toBe(misses);
    const sum = (kind: 'read' | 'written' | 'fresh') => uses.reduce((total, use) => total + use[kind], 0);
    const [read, written, inputTokens] = [sum('read'), sum('written'), sum('read') + sum('written') + sum('fresh')];
    expect(read / inputTokens).toBeGreaterThan(0.85);
    const { rows } = await database.pool.query(
      'select sum(cached_tokens)::int as read, sum(cache_write_tokens)::int as written from job_steps where job_id = $1',
      [job.id],
    );
    expect(rows).toEqual([{ read, written }]);
    const costs = uses.map((use) => Math.ceil(use.fresh * 3 + use.read * 0.3 + use.written * 3.75 + 20 * 15));
    expect(job).toMatchObject({
      inputTokens,
      cachedTokens: read,
      cacheWriteTokens: written,
      costMicros: costs.reduce((total, cost) => total + cost, 0),
    });
  },
);

it.each([
  { name: 'masks old outputs', window: 200_000 },
  { name: 'is compacted', window: 100_000 },
])(
  'a job of 50 steps that $name has most of its input in the cache of OpenAI',
  { tags: 'slow' },
  async ({ window }) => {
    const { job, uses } = await runJob({ window, vendor: 'OpenAI' });
    expect(job).toMatchObject({ status: 'completed', steps: steps + 1 });
    const read = uses.reduce((total, use) => total + use.read, 0);
    const inputTokens = uses.reduce((total, use) => total + use.read + use.fresh, 0);
    expect(read / inputTokens).toBeGreaterThan(0.85);
    const { rows } = await database.pool.query(
      'select sum(cached_tokens)::int as read from job_steps where job_id = $1',
      [job.id],
    );
    expect(rows).toEqual([{ read }]);
  },
);
