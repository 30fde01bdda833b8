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

/**
 * Returns the 95% interval of the difference of two shares, measured in pairs of which some became better and some
 * worse. It multiplies the Wilson interval of the share of pairs that differ by the interval of their balance, from the
 * exact interval of the better ones among them (Clopper and Pearson, Biometrika 26, 1934). It contains 0 exactly when
 * McNemar's exact test finds no significant difference.
 */
export function pairedDifference(better: number, worse: number, pairs: number): [low: number, high: number] {
  const differing = better + worse;
  const [fewest, most] = wilson(pairs === 0 ? 0 : differing / pairs, pairs);
  const low = 2 * minShare(better, differing) - 1;
  const high = 1 - 2 * minShare(worse, differing);
  return [low * (low < 0 ? most : fewest), high * (high < 0 ? fewest : most)];
}

/**
 * Returns the lower bound of the share of wins: with a smaller share, this many wins have a chance of less than 2.5%.
 */
function minShare(wins: number, count: number): number {
  let [low, high] = [0, wins === 0 ? 0 : 1];
  for (let step = 0; step < 50; step += 1) {
    const share = (low + high) / 2;
    if (chanceOf(wins, count, share) < 0.025) low = share;
    else high = share;
  }
  return low;
}

/** Returns the chance of at least so many wins. */
function chanceOf(wins: number, count: number, share: number): number {
  let [log, sum] = [count * Math.log1p(-share), 0];
  for (let index = 0; index <= count; index += 1) {
    if (index >= wins) sum += Math.exp(log);
    log += Math.log((count - index) / (index + 1)) + Math.log(share / (1 - share));
  }
  return sum;
}
