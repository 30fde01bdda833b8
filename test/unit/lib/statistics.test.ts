import { expect, it } from 'vitest';
import { bootstrap } from '../../../lib/statistics.ts';

it('returns the interval of a mean, close to that of the normal distribution for many values', () => {
  const values = Array.from({ length: 400 }, (_, at) => (at % 4 === 0 ? 1 : 0));
  const [low, high] = bootstrap(values)!;
  const margin = 1.96 * Math.sqrt((0.25 * 0.75) / 400);
  expect(low).toBeCloseTo(0.25 - margin, 2);
  expect(high).toBeCloseTo(0.25 + margin, 2);
  expect(bootstrap(values)).toEqual([low, high]);
});

it('is narrower for more values, and of no width for equal ones', () => {
  const widthOf = (count: number) => {
    const [low, high] = bootstrap(Array.from({ length: count }, (_, at) => (at % 3) - 1))!;
    return high - low;
  };
  expect(widthOf(30)).toBeGreaterThan(widthOf(300));
  expect(bootstrap([0, 0, 0])).toEqual([0, 0]);
  expect(bootstrap([])).toBeNull();
});
