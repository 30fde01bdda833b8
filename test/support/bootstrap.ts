import { mean } from '../../lib/statistics.ts';

const resamples = 2_000;

/**
 * Returns the 95% interval of a figure of some values by the percentile bootstrap (Efron, "Bootstrap methods: another
 * look at the jackknife", Annals of Statistics 7, 1979); the same one at every call with the same values. Null for no
 * values.
 */
export function bootstrap(
  values: readonly number[],
  figure: (values: number[]) => number = mean,
): [low: number, high: number] | null {
  if (values.length === 0) return null;
  let state = 1;
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const figures = Array.from({ length: resamples }, () =>
    figure(values.map(() => values[Math.floor(next() * values.length)] ?? 0)),
  ).sort((a, b) => a - b);
  return [figures[Math.floor(resamples * 0.025)] ?? 0, figures[Math.ceil(resamples * 0.975) - 1] ?? 0];
}
