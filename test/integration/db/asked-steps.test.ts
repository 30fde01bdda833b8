import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAskedSteps } from '../../../db/for-worker/asked-steps.ts';
import { createStepStore } from '../../../db/for-worker/steps.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { seedJob } from './seed.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const scene = async () => {
  const { pool } = database;
  const ref = { ...(await seedJob(pool)), step: 1 };
  return { ref, asked: createAskedSteps(pool), steps: createStepStore(pool) };
};

const passTime = () => database.pool.query("update job_steps set asked_until = asked_until - interval '1 minute'");

it('a step is asked for from its claim until its answer is stored', async () => {
  const { ref, asked, steps } = await scene();
  expect(await asked.isAsked(ref)).toBe(false);
  await steps.claimAnswer(ref);
  expect(await asked.isAsked(ref)).toBe(true);
  const response = { content: [], text: '', toolCalls: [] };
  const usage = { inputTokens: 1, outputTokens: 1 };
  await steps.storeResponse({ ...ref, requestHash: 'h', response, finishReason: 'stop', usage, costMicros: null });
  expect(await asked.isAsked(ref)).toBe(false);
});

it('a step is asked for only as long as somebody says so', async () => {
  const { ref, asked, steps } = await scene();
  const other = { ...(await seedJob(database.pool)), step: 4 };
  for (const step of [ref, other]) await steps.claimAnswer(step);
  await passTime();
  expect(await asked.isAsked(ref)).toBe(false);
  await asked.stillAsked([ref, other]);
  expect([await asked.isAsked(ref), await asked.isAsked(other)]).toEqual([true, true]);
});

it('an attempt that stops ends what it said, and nothing of a newer one', async () => {
  const { ref, asked, steps } = await scene();
  const { fence } = await steps.claimAnswer(ref);
  const newer = await steps.claimAnswer(ref);
  await asked.endAsked({ ...ref, fence });
  expect(await asked.isAsked(ref)).toBe(true);
  await asked.endAsked({ ...ref, fence: newer.fence });
  expect(await asked.isAsked(ref)).toBe(false);
});
