import { expect, it } from 'vitest';
import { runPlanted } from '../suites/leaks/run.ts';

it('writes no secret anywhere, whoever says it', { timeout: 600_000 }, async () => {
  expect(await runPlanted(['--secrets', '300'])).toBe(0);
});
