import type { Edit } from './file-patch.ts';
import { diffLines, type LineChange } from './line-diff.ts';
import type { WorkBudget } from './work-budget.ts';

const context = 3;

/**
 * What leads from a file with one set of edits to the same file with another one. Of the file itself only the lines are
 * needed that stand in the patches: where neither of them edits, both have the same.
 */
export function editsBetween(
  before: readonly Edit[],
  after: readonly Edit[],
  baseLines: ReadonlyMap<number, string>,
  budget: WorkBudget,
): LineChange[] {
  const changes: LineChange[] = [];
  const take = (some: LineChange[]) => {
    for (const change of some) changes.push(change);
  };
  let at = 0;
  for (const { from, to } of editedPlaces([...before, ...after])) {
    take(unedited(at, from, baseLines));
    take(diffLines(edited(before, { from, to }, baseLines), edited(after, { from, to }, baseLines), budget));
    at = to;
  }
  take(known(at, at + context, baseLines));
  return changes;
}

/** The whole of a file whose base stands in a patch in all its lines. */
export function wholeFile(edits: readonly Edit[], baseLines: ReadonlyMap<number, string>): string[] {
  const to = Math.max(baseLines.size, ...edits.map((edit) => edit.to));
  return edited(edits, { from: 0, to }, baseLines);
}

/** Places that at least one of the edits is about; those that touch are one. */
function editedPlaces(edits: readonly Edit[]): { from: number; to: number }[] {
  const places: { from: number; to: number }[] = [];
  for (const { from, to } of edits.toSorted((one, other) => one.from - other.from || one.to - other.to)) {
    const last = places.at(-1);
    if (last === undefined || from > last.to) places.push({ from, to });
    else last.to = Math.max(last.to, to);
  }
  return places;
}

/** The lines of a place with its edits. */
function edited(
  edits: readonly Edit[],
  { from, to }: { from: number; to: number },
  baseLines: ReadonlyMap<number, string>,
): string[] {
  const lines: string[] = [];
  let at = from;
  const copy = (end: number) => {
    for (; at < end; at += 1) lines.push(baseLines.get(at) ?? '');
  };
  for (const edit of edits) {
    if (edit.from < from || edit.to > to) continue;
    copy(edit.from);
    for (const line of edit.lines) lines.push(line);
    at = edit.to;
  }
  copy(to);
  return lines;
}

/** What stands between two edited places: its lines, or of a long piece those that are next to the places. */
function unedited(from: number, to: number, baseLines: ReadonlyMap<number, string>): LineChange[] {
  const behind = from === 0 ? [] : known(from, Math.min(to, from + context), baseLines);
  const rest = from + behind.length;
  const before: LineChange[] = [];
  for (let at = to - 1; at >= rest && before.length < context; at -= 1) {
    const line = baseLines.get(at);
    if (line === undefined) break;
    before.unshift({ kind: 'equal', line });
  }
  const count = to - from - behind.length - before.length;
  return [...behind, ...(count > 0 ? [{ kind: 'skip' as const, count }] : []), ...before];
}

function known(from: number, to: number, baseLines: ReadonlyMap<number, string>): LineChange[] {
  const lines: LineChange[] = [];
  for (let at = from; at < to; at += 1) {
    const line = baseLines.get(at);
    if (line === undefined) break;
    lines.push({ kind: 'equal', line });
  }
  return lines;
}
