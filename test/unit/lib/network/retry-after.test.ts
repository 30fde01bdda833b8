import { expect, it } from 'vitest';
import { readRetryAfter } from '../../../../lib/network/retry-after.ts';

const now = Date.parse('2026-11-26T18:00:00Z');

it.each([
  ['2', 2_000],
  [2, 2_000],
  ['0.5', 500],
  ['Thu, 26 Nov 2026 18:00:30 GMT', 30_000],
  ['Thu, 26 Nov 2026 17:00:00 GMT', 0],
  ['soon', null],
  ['', null],
  [undefined, null],
])('%s is a wait of %s ms', (header, waitMs) => {
  expect(readRetryAfter(header, now)).toBe(waitMs);
});
