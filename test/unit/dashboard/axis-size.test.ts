import { expect, it } from 'vitest';
import { axisSize } from '../../../dashboard/operations/plot.tsx';

it('makes the axis as wide as its longest label', () => {
  const widthOf = (label: string) => label.length * 7;
  expect(axisSize(['0 ms', '1 min 40 s', ''], widthOf)).toBeGreaterThan(widthOf('1 min 40 s'));
  expect(axisSize(null, widthOf)).toBe(axisSize(['0'], widthOf));
});
