import type { LineChange } from './line-diff.ts';

const context = 3;
const marks = { equal: ' ', delete: '-', insert: '+' } as const;

/** The hunks of a unified diff, with three lines around what differs; empty when nothing does. */
export function writeHunks(changes: readonly LineChange[]): string {
  const parts: string[] = [];
  const places = placesOf(changes);
  for (const { from, to } of groupsOf(changes)) {
    const { old = 0, now = 0 } = places[from] ?? {};
    const piece = changes.slice(from, to);
    const size = (other: 'delete' | 'insert') => piece.filter(({ kind }) => kind !== other).length;
    parts.push(`@@ -${rangeOf(old, size('insert'))} +${rangeOf(now, size('delete'))} @@\n`);
    for (const change of piece) if (change.kind !== 'skip') parts.push(written(marks[change.kind], change.line));
  }
  return parts.join('');
}

function written(mark: string, line: string): string {
  return line.endsWith('\n') ? `${mark}${line}` : `${mark}${line}\n\\ No newline at end of file\n`;
}

/** A range without lines stands behind the line it names; one of a single line goes without its length. */
function rangeOf(lines: number, count: number): string {
  return count === 1 ? `${lines + 1}` : `${count === 0 ? lines : lines + 1},${count}`;
}

/** How many lines stand before each change, on both sides. */
function placesOf(changes: readonly LineChange[]): { old: number; now: number }[] {
  let [old, now] = [0, 0];
  return changes.map((change) => {
    const place = { old, now };
    const count = change.kind === 'skip' ? change.count : 1;
    if (change.kind !== 'insert') old += count;
    if (change.kind !== 'delete') now += count;
    return place;
  });
}

/** Pieces with all that differs and the lines around it; what is less than two contexts apart is one piece. */
function groupsOf(changes: readonly LineChange[]): { from: number; to: number }[] {
  const groups: { from: number; to: number }[] = [];
  const isEqual = (at: number) => changes[at]?.kind === 'equal';
  for (const [at, { kind }] of changes.entries()) {
    if (kind !== 'delete' && kind !== 'insert') continue;
    let from = at;
    while (at - from < context && isEqual(from - 1)) from -= 1;
    let to = at + 1;
    while (to - at - 1 < context && isEqual(to)) to += 1;
    const last = groups.at(-1);
    if (last !== undefined && from <= last.to) last.to = to;
    else groups.push({ from, to });
  }
  return groups;
}
