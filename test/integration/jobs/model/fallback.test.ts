import { describe, expect, it } from 'vitest';
import { createJobTimelineStore } from '../../../../db/jobs/job-timeline.ts';
import { createPriceBook } from '../../../../models/prices.ts';
import { createModelRegistry } from '../../../../models/registry.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import type { RecordedRequest, ScriptedReply } from '../../../support/servers/scripted-model-server.ts';
import type { TestWorkerOptions } from '../../../support/stack/worker.ts';
import { writing } from '../../../support/writing-script.ts';
import { ofFile } from '../../../support/of-file.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

/** A model server on which each model has its own script; its last reply is repeated. */
async function startStack(scripts: Record<string, ScriptedReply[]>, change?: TestWorkerOptions['change']) {
  const stack = await startJobStack({ database, change });
  const { model: server } = stack;
  const replies = new Map(Object.entries(scripts).map(([model, script]) => [model, [...script]]));
  server.respondWith(({ body }) => {
    const script = replies.get(body.model) ?? [];
    return (script.length > 1 ? script.shift() : script[0]) ?? { status: 404 };
  });
  const [model = '', ...fallbackModels] = Object.keys(scripts).map((name) => `compatible/${name}`);
  return {
    ...stack,
    server,
    job: { ...stack.job, model, fallbackModels },
    asked: () => server.requests.map(({ body }) => body.model).join(''),
  };
}

async function stepsOf({ id, organizationId }: { id: string; organizationId: string }) {
  const page = { after: { turn: 0, step: 0 }, limit: 50 };
  const { rows } = await createJobTimelineStore(database.pool).steps({ organizationId }, id, page);
  return rows.map(({ model, failedModels }) => ({ model, failedModels }));
}

async function noticesOf(jobId: string): Promise<string[]> {
  const { rows } = await database.pool.query(
    `select data ->> 'text' as text from job_events where job_id = $1 and type = 'notice' order by seq`,
    [jobId],
  );
  return rows.map(({ text }) => text);
}

const [write, finish] = writing as [ScriptedReply, ScriptedReply];
const prices = createPriceBook({
  'compatible/a': { input: 1, output: 1 },
  'compatible/b': { input: 100, output: 100 },
});

describe('a job with two models', { tags: ['slow'] }, () => {
  it.each<[string, ScriptedReply]>([
    ['answers with 503', { status: 503 }],
    ['is overloaded', { status: 529 }],
    ['is rate limited', { status: 429, retryAfter: 0 }],
    ['dies in the middle of its answer', { text: 'Half of an answer', cut: true }],
  ])('asks the other one after three failures when the first %s', async (_, failure) => {
    await using stack = await startStack({ a: [failure], b: [write, finish] }, () => ({ prices }));
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'completed', model: 'compatible/a', steps: 2 });
    expect(stack.asked()).toBe('aaabb');
    expect(await stepsOf(job)).toEqual([
      { model: 'compatible/b', failedModels: [{ model: 'compatible/a', failures: 3 }] },
      { model: 'compatible/b', failedModels: [] },
    ]);
    expect(await noticesOf(job.id)).toEqual([
      'The model compatible/a does not answer; compatible/b is used instead for 5 minutes.',
    ]);
    const author = '%(trailers:key=Co-authored-by,valueonly)';
    const log = await stack.repository.git('log', '-1', `--format=${author}`, job.headCommit!);
    expect(log).toContain('compatible/b');
    const lost = failure.cut === true ? job.costMicros! - 24_000 : 0;
    expect(lost).toBeLessThan(24_000);
    expect(job.costMicros).toBe(24_000 + lost);
  });

  it.each<[string, ScriptedReply]>([
    ['does not exist', { status: 404 }],
    ['was withdrawn', { status: 410 }],
    ['is to be asked again in two minutes', { status: 429, retryAfter: 120 }],
  ])('asks the other one at once when the first %s', async (_, failure) => {
    await using stack = await startStack({ a: [failure], b: [write, finish] });
    expect(await stack.worker.runJob(stack.job)).toMatchObject({ status: 'completed' });
    expect(stack.asked()).toBe('abb');
  });

  it('asks the other one at once when the first is silent until its time is over', async () => {
    await using stack = await startStack({ a: [{ text: 'Late.', stall: 1 }], b: [write, finish] }, () => ({
      timing: { retryBaseMs: 10, modelTimeoutMs: 5_000 },
    }));
    expect(await stack.worker.runJob(stack.job)).toMatchObject({ status: 'completed' });
    expect(stack.asked()).toBe('abb');
  });

  it('asks the other one when nothing listens for the first, or the worker has no key for it', async () => {
    for (const first of ['compatible/dead', 'openai/gpt-5']) {
      await using stack = await startStack({ b: [write, finish] }, ({ models }) => {
        const dead = createModelRegistry({ compatible: { baseUrl: 'http://127.0.0.1:9/v1' } });
        return {
          models: {
            ...models,
            languageModel: (name) => (name === 'compatible/dead' ? dead : models).languageModel(name),
          },
        };
      });
      const job = await stack.worker.runJob({ ...stack.job, model: first, fallbackModels: ['compatible/b'] });
      expect(job).toMatchObject({ status: 'completed' });
      expect(stack.asked()).toBe('bb');
    }
  });

  it('stays with the first one through failures that pass', async () => {
    await using stack = await startStack({ a: [{ status: 503 }, { status: 503 }, write, finish], b: [write] });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'completed' });
    expect(stack.asked()).toBe('aaaa');
    expect(await noticesOf(job.id)).toEqual([]);
  });

  it.each([400, 401, 402, 403])('ends with a refusal of %d without asking the other one', async (status) => {
    await using stack = await startStack({ a: [{ status }], b: [write] });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'model_refused' });
    expect(stack.asked()).toBe('a');
  });

  it('returns to the first one when its time is over, which gets only its own reasoning', async () => {
    const thinking = { ...write, reasoning: 'Secret thoughts of a.' };
    const look = { toolCalls: [{ name: 'list', input: {} }], reasoning: 'Secret thoughts of b.' };
    let expire = async () => {};
    await using stack = await startStack({ a: [thinking, { status: 404 }, finish], b: [look] }, ({ steps }) => ({
      steps: {
        ...steps,
        async storeResults(batch) {
          if (batch.step === 2) await expire();
          return steps.storeResults(batch);
        },
      },
    }));
    const id = await stack.worker.createJob(stack.job);
    expire = async () => {
      await database.pool.query(
        `update jobs set models_down = jsonb_build_object('compatible/a', now() - interval '1 second') where id = $1`,
        [id],
      );
    };
    await stack.worker.startJob(id);
    const job = await stack.worker.ended(id);
    expect(job).toMatchObject({ status: 'completed', steps: 3 });
    expect(stack.asked()).toBe('aaba');
    expect((await stepsOf(job)).map(({ model }) => model)).toEqual(['compatible/a', 'compatible/b', 'compatible/a']);
    const [, , ofB, ofA] = stack.server.requests.map(({ body }: RecordedRequest) => JSON.stringify(body.messages));
    expect(ofB).not.toContain('thoughts');
    expect(ofA).toContain('thoughts of a');
    expect(ofA).not.toContain('thoughts of b');
  });

  it('fails when both are down, after the usual retries of the last one', { tags: 'slow' }, async () => {
    await using stack = await startStack({ a: [{ status: 503 }], b: [{ status: 500 }] });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'model_unavailable' });
    expect(stack.asked()).toBe('aaabbbbbbbb');
  });

  it('has the usual retries of the first one when the other does not exist', { tags: 'slow' }, async () => {
    const down = Array.from({ length: 6 }, () => ({ status: 503 }));
    await using stack = await startStack({ a: [...down, write, finish], b: [{ status: 404 }] });
    expect(await stack.worker.runJob(stack.job)).toMatchObject({ status: 'completed' });
    expect(stack.asked()).toBe('aaabaaaaa');
  });

  it('fails when none of its models exists', async () => {
    await using stack = await startStack({ a: [{ status: 404 }], b: [{ status: 404 }] });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'model_refused' });
    expect(stack.asked()).toBe('aba');
  });

  it('asks the other one again, and only once, when its answer is lost before it is stored', async () => {
    let isFirst = true;
    await using stack = await startStack({ a: [{ status: 404 }], b: [write, write, finish] }, ({ steps }) => ({
      steps: {
        ...steps,
        storeResponse(answer) {
          if (!isFirst) return steps.storeResponse(answer);
          isFirst = false;
          throw new Error('The worker dies.');
        },
      },
    }));
    expect(await stack.worker.runJob(stack.job)).toMatchObject({ status: 'completed', steps: 2 });
    expect(stack.asked()).toBe('abbb');
  });
});

describe('a budget of a job with two models', () => {
  const ceilings = { jobMicros: null, dayMicros: 1e9, organizationMicros: null };

  async function reservationsOf(settings: { maxOutputTokens?: number }) {
    const held: number[] = [];
    await using stack = await startStack({ a: [write, finish], b: [write] }, ({ leases }) => ({
      prices,
      budgetCeilings: ceilings,
      leases: {
        ...leases,
        begin(call) {
          held.push(call.limit!.maxMicros);
          return leases.begin(call);
        },
      },
    }));
    const job = await stack.worker.runJob({ ...stack.job, ...settings });
    expect(job).toMatchObject({ status: 'completed', costMicros: 240 });
    expect(held).toHaveLength(2);
    return held;
  }

  it('reserves what the dearest of them may cost, within the output limit of the job', async () => {
    const longest = 100 * 128_000;
    expect(Math.min(...(await reservationsOf({})))).toBeGreaterThan(longest);
    const limited = await reservationsOf({ maxOutputTokens: 2_000 });
    expect(Math.min(...limited)).toBeGreaterThan(100 * 2_000);
    expect(Math.max(...limited)).toBeLessThan(longest);
  });

  it('refuses a job before its first call if one of them has no price', async () => {
    await using stack = await startStack({ a: [write], b: [write] }, () => ({
      prices: createPriceBook({ 'compatible/a': { input: 1, output: 1 } }),
      budgetCeilings: ceilings,
    }));
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'budget_limit' });
    expect(job.message).toContain('compatible/b');
    expect(stack.asked()).toBe('');
  });
});
