/** Mean of some figures; 0 for none. */
export function mean(values: number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Returns the 95 % score interval of a share (Wilson, "Probable inference, the law of succession, and statistical
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
