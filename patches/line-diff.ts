/** A line that stays, goes or comes; or lines that are not known and the same on both sides. */
export type LineChange = { kind: 'equal' | 'delete' | 'insert'; line: string } | { kind: 'skip'; count: number };

/** Beyond so many differences all lines count as replaced: finding the fewest takes their square in time. */
const mostDifferences = 1_000;

/** The fewest lines to take out and put in, by Myers' algorithm ("An O(ND) Difference Algorithm", 1986). */
export function diffLines(before: readonly string[], after: readonly string[]): LineChange[] {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const shorter = Math.min(before.length, after.length) - head;
  while (tail < shorter && before[before.length - 1 - tail] === after[after.length - 1 - tail]) tail += 1;
  const equal = (line: string): LineChange => ({ kind: 'equal', line });
  return [
    ...before.slice(0, head).map(equal),
    ...diffMiddle(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(equal),
  ];
}

function diffMiddle(before: readonly string[], after: readonly string[]): LineChange[] {
  const rounds = before.length === 0 || after.length === 0 ? null : furthestPaths(before, after);
  if (rounds === null) return replaced(before, after);
  const changes: LineChange[] = [];
  let [x, y] = [before.length, after.length];
  for (let d = rounds.length; d > 0; d -= 1) {
    const reached = rounds[d - 1] ?? new Int32Array();
    const k = x - y;
    const at = (diagonal: number) => reached[diagonal + d] ?? -1;
    const comesDown = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const diagonal = comesDown ? k + 1 : k - 1;
    const startX = at(diagonal);
    const startY = startX - diagonal;
    while (x > (comesDown ? startX : startX + 1) && y > (comesDown ? startY + 1 : startY)) {
      changes.push({ kind: 'equal', line: before[x - 1] ?? '' });
      [x, y] = [x - 1, y - 1];
    }
    if (comesDown) changes.push({ kind: 'insert', line: after[startY] ?? '' });
    else changes.push({ kind: 'delete', line: before[startX] ?? '' });
    [x, y] = [startX, startY];
  }
  for (; x > 0; x -= 1) changes.push({ kind: 'equal', line: before[x - 1] ?? '' });
  return deletesFirst(changes.reverse());
}

/** For each number of differences, how far into `before` its paths came on each diagonal; null when there are too many. */
function furthestPaths(before: readonly string[], after: readonly string[]): Int32Array[] | null {
  const most = Math.min(before.length + after.length, mostDifferences);
  const rounds: Int32Array[] = [];
  const reached = new Int32Array(2 * most + 3).fill(-1);
  const origin = most + 1;
  reached[origin + 1] = 0;
  for (let d = 0; d <= most; d += 1) {
    // what the round before left, with diagonal k at k + d
    if (d > 0) rounds.push(reached.slice(origin - d, origin + d + 1));
    for (let k = -d; k <= d; k += 2) {
      const [left, right] = [reached[origin + k - 1] ?? -1, reached[origin + k + 1] ?? -1];
      let x = k === -d || (k !== d && left < right) ? right : left + 1;
      let y = x - k;
      while (x < before.length && y < after.length && before[x] === after[y]) [x, y] = [x + 1, y + 1];
      reached[origin + k] = x;
      if (x >= before.length && y >= after.length) return rounds;
    }
  }
  return null;
}

function replaced(before: readonly string[], after: readonly string[]): LineChange[] {
  return [
    ...before.map((line): LineChange => ({ kind: 'delete', line })),
    ...after.map((line): LineChange => ({ kind: 'insert', line })),
  ];
}

/** Within a run of differences, what goes stands before what comes. */
function deletesFirst(changes: LineChange[]): LineChange[] {
  const sorted: LineChange[] = [];
  let inserts: LineChange[] = [];
  for (const change of changes) {
    if (change.kind === 'insert') inserts.push(change);
    else {
      if (change.kind !== 'delete') {
        for (const insert of inserts) sorted.push(insert);
        inserts = [];
      }
      sorted.push(change);
    }
  }
  return [...sorted, ...inserts];
}
