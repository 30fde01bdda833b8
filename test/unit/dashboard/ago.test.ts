import { expect, it } from 'vitest';
import { inSteps } from '../../../dashboard/components/clock.ts';
import { ago } from '../../../dashboard/format.ts';

const at = Date.parse('2026-11-30T02:42:49.900Z');
const before = (ms: number) => ago(new Date(at - ms).toISOString(), inSteps(at, at - ms));

it('never shows an older date as younger', () => {
  const ages = Array.from({ length: 300 }, (_, number) => 1_000 + number * 700);
  const shown = ages.map((age) => {
    const [, number, unit] = /^(\d+)([sm]) ago$/.exec(before(age)) ?? [];
    return Number(number ?? 0) * (unit === 'm' ? 60 : 1);
  });
  expect(shown).toEqual(shown.toSorted((a, b) => a - b));
  expect(shown.at(-1)).toBe(180);
});

it('counts days by 24 hours', () => {
  expect([0, 1, 23, 24, 47, 48].map((hours) => before(hours * 3_600_000))).toEqual([
    'now',
    '1h ago',
    '23h ago',
    '1d ago',
    '1d ago',
    '2d ago',
  ]);
});
