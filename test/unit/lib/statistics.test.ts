import { expect, it } from 'vitest';
import { mcNemar, pairedDifference } from '../../../lib/statistics.ts';
import { bootstrap } from '../../support/bootstrap.ts';

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

it.each([
  [5, 0, 20, -0.02, 0.469],
  [6, 0, 20, 0.012, 0.519],
  [0, 6, 20, -0.519, -0.012],
  [3, 0, 3, -0.415, 1],
  [0, 0, 3, -0.561, 0.561],
  [0, 0, 0, -1, 1],
  [300, 200, 1_000, 0.052, 0.152],
])('returns the interval of %i better and %i worse of %i pairs', (better, worse, pairs, low, high) => {
  const interval = pairedDifference(better, worse, pairs);
  expect(interval.map((share) => Math.round(share * 1_000) / 1_000)).toEqual([low, high]);
});

it('contains the difference, and 0 just when the exact test does not decide', () => {
  for (let pairs = 1; pairs <= 30; pairs += 1)
    for (let better = 0; better <= pairs; better += 1)
      for (let worse = 0; better + worse <= pairs; worse += 1) {
        const [low, high] = pairedDifference(better, worse, pairs);
        const difference = (better - worse) / pairs;
        expect([low <= 0 && 0 <= high, low - 1e-9 <= difference && difference <= high + 1e-9]).toEqual([
          mcNemar(better, worse) >= 0.05,
          true,
        ]);
      }
});
