/**
 * Every place, up to a limit, where a sequence stands in another one, positions that overlap too. Takes time linear in
 * both, which a search that starts over at each place does not.
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

/** For each beginning of a sequence the length of the longest shorter beginning it ends with. */
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
