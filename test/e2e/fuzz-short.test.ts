import { expect, it } from 'vitest';
import { runFuzz } from '../suites/fuzz/run.ts';

it('answers generated requests to all routes as its API description says', { timeout: 600_000 }, async () => {
  expect(await runFuzz({ requests: 3_000, seed: 8 })).toBe(0);
});
