import { expect, it } from 'vitest';
import { checkLeaks } from '../suites/leaks/run.ts';

it('writes no secret anywhere, whoever says it', { timeout: 600_000 }, async () => {
  expect(await checkLeaks(['--secrets', '300'])).toBe(0);
});
