import { expect, it } from 'vitest';
import { cost, count, duration, inputParts } from '../../../dashboard/format.ts';
import { axisSize, incrementsOf } from '../../../dashboard/operations/plot.tsx';

it('makes the axis as wide as its longest label', () => {
  const widthOf = (label: string) => label.length * 7;
  expect(axisSize(['0 ms', '1 min 40 s', ''], widthOf)).toBeGreaterThan(widthOf('1 min 40 s'));
  expect(axisSize(null, widthOf)).toBe(axisSize(['0'], widthOf));
});

it('steps through an axis with round labels, each of them once', () => {
  const durations = incrementsOf(duration).map(duration);
  expect(durations).toEqual(expect.arrayContaining(['200 ms', '5.0 s', '2 min 00 s', '1 h 00 min']));
  expect(durations.filter((label) => /^\d+ min (?!00)/.test(label))).toEqual([]);
  for (const format of [cost, count, duration]) {
    for (const step of incrementsOf(format)) {
      // the most labels that have room on an axis
      const labels = [0, 1, 2, 3, 4, 5].map((number) => format(number * step));
      expect([step, new Set(labels).size]).toEqual([step, labels.length]);
    }
  }
});

it('formats the parts of the input, unless they were not counted or no cache was used', () => {
  const parts = { cachedInputTokens: 12_300, cacheWriteTokens: 900, freshInputTokens: 0 };
  expect(inputParts(parts)).toBe('12.3 k read from cache, 900 written to cache, 0 uncached');
  expect(inputParts({ ...parts, cacheWriteTokens: null })).toBeNull();
  expect(inputParts({ cachedInputTokens: 0, cacheWriteTokens: 0, freshInputTokens: 500 })).toBeNull();
});
