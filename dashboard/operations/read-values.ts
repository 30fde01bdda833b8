import { count, plural } from '../format.ts';
import type { Series } from './plot.tsx';

/** Returns what a plot shows at an interval, as text: "started 3, completed 2". */
export function valuesAt(series: readonly Series[], index: number, format: (value: number) => string): string {
  const shown = series.flatMap(({ label, values }) => {
    const value = values[index] ?? null;
    return value === null ? [] : [`${label} ${format(value) || value}`];
  });
  return shown.length === 0 ? 'no data' : shown.join(', ');
}

/** Returns the interval that a key moves to; null if the key does not move. */
export function movedBy(key: string, index: number, last: number): number | null {
  const targets: Record<string, number> = {
    ArrowLeft: index - 1,
    ArrowDown: index - 1,
    ArrowRight: index + 1,
    ArrowUp: index + 1,
    Home: 0,
    End: last,
  };
  const target = targets[key];
  return target === undefined ? null : Math.max(0, Math.min(last, target));
}

/** Reports whether a plot has nothing to show. */
export function isEmpty(series: readonly Series[]): boolean {
  return series.every(({ values }) => values.every((value) => value === null || value === 0));
}

/** Formats a count on an axis, which shows whole numbers only. */
export function wholeCount(value: number): string {
  return Number.isInteger(value) ? count(value) : '';
}

type Ending = 'completed' | 'failed' | 'cancelled';

/** Returns the share of ended turns that completed, and of how many. Cancelled turns do not count. */
export function successOf(throughput: Record<Ending, number>[]): [rate: string, of: string] {
  const sum = (ending: Ending) => throughput.reduce((total, point) => total + point[ending], 0);
  const [completed, failed, cancelled] = [sum('completed'), sum('failed'), sum('cancelled')];
  const ended = completed + failed;
  return [
    ended === 0 ? '–' : `${Math.floor((completed / ended) * 100)}%`,
    `${count(completed)} of ${plural(ended, 'turn')}${cancelled === 0 ? '' : `, ${count(cancelled)} cancelled`}`,
  ];
}
