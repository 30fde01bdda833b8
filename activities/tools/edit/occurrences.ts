/**
 * Returns every position, up to a limit, at which a sequence occurs in another, overlapping ones included. Takes linear
 * time in both (Knuth-Morris-Pratt).
 */
export function occurrencesOf<Item>(sought: ArrayLike<Item>, within: ArrayLike<Item>, limit: number): number[] {
  const fallback = fallbackOf(sought);
  const positions: number[] = [];
  let matched = 0;
  for (let at = 0; at < within.length; at += 1) {
    while (matched > 0 && within[at] !== sought[matched]) matched = fallback[matched - 1] ?? 0;
    if (within[at] === sought[matched]) matched += 1;
    if (matched < sought.length) continue;
    positions.push(at - matched + 1);
    if (positions.length === limit) break;
    matched = fallback[matched - 1] ?? 0;
  }
  return positions;
}

/** Returns, for each prefix of a sequence, the length of the longest shorter prefix that it ends with. */
function fallbackOf<Item>(sought: ArrayLike<Item>): Uint32Array {
  const fallback = new Uint32Array(sought.length);
  let matched = 0;
  for (let at = 1; at < sought.length; at += 1) {
    while (matched > 0 && sought[at] !== sought[matched]) matched = fallback[matched - 1] ?? 0;
    if (sought[at] === sought[matched]) matched += 1;
    fallback[at] = matched;
  }
  return fallback;
}
