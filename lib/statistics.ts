/** Mean of some figures; 0 for none. */
export function mean(values: number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Returns the 95% score interval of a share (Wilson, "Probable inference, the law of succession, and statistical
 * inference", JASA 22, 1927).
 */
export function wilson(share: number, count: number): [low: number, high: number] {
  if (count === 0) return [0, 1];
  const z = 1.959964;
  const middle = share + (z * z) / (2 * count);
  const margin = z * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count));
  const scale = 1 + (z * z) / count;
  return [Math.max(0, (middle - margin) / scale), Math.min(1, (middle + margin) / scale)];
}

/**
 * Returns the two-sided p-value of a number of wins and losses if both are equally likely: McNemar's test in its exact
 * form (McNemar, Psychometrika 12, 1947).
 */
export function mcNemar(wins: number, losses: number): number {
  const count = wins + losses;
  let chance = 0.5 ** count;
  let sum = 0;
  for (let index = 0; index <= Math.min(wins, losses); index += 1) {
    sum += chance;
    chance = (chance * (count - index)) / (index + 1);
  }
  return Math.min(1, 2 * sum);
}

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
