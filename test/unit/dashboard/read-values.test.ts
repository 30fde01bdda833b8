import { expect, it } from 'vitest';
import { isEmpty, movedBy, successOf, valuesAt } from '../../../dashboard/operations/read-values.ts';

const series = [
  { label: 'started', colour: '--blue', values: [3, 0, null] },
  { label: 'completed', colour: '--green', values: [2, 0, null] },
];

it('reads the values of an interval', () => {
  expect(valuesAt(series, 0, String)).toBe('started 3, completed 2');
  expect(valuesAt(series, 1, String)).toBe('started 0, completed 0');
  expect(valuesAt(series, 2, String)).toBe('no data');
});

it('moves with the arrow keys and stays within the plot', () => {
  expect(['ArrowLeft', 'ArrowRight', 'Home', 'End', 'Tab'].map((key) => movedBy(key, 5, 9))).toEqual([
    4,
    6,
    0,
    9,
    null,
  ]);
  expect([movedBy('ArrowLeft', 0, 9), movedBy('ArrowRight', 9, 9)]).toEqual([0, 9]);
});

it('calls a plot of zeros empty', () => {
  expect([isEmpty(series), isEmpty(series.map((one) => ({ ...one, values: [0, null] })))]).toEqual([false, true]);
});

it('leaves cancelled turns out of the success rate, and never rounds up to 100%', () => {
  const point = (completed: number, failed: number, cancelled: number) => ({ completed, failed, cancelled });
  expect(successOf([])).toEqual(['–', '0 of 0 turns']);
  expect(successOf([point(200, 1, 0), point(99, 0, 2)])).toEqual(['99%', '299 of 300 turns, 2 cancelled']);
  expect(successOf([point(1, 0, 0)])).toEqual(['100%', '1 of 1 turn']);
});
