import { expect, it } from 'vitest';
import { checkLeaks } from '../suites/leaks/run.ts';

it('writes no secret anywhere, whatever its source', { timeout: 600_000 }, async () => {
  expect(await checkLeaks(300)).toBe(0);
});
