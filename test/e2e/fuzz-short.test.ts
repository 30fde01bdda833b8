import { expect, it } from 'vitest';
import { runFuzz } from '../suites/fuzz/run.ts';

it('answers generated requests over all routes as it describes itself', { timeout: 600_000 }, async () => {
  expect(await runFuzz(['--requests', '3000', '--seed', '8'])).toBe(0);
});
