import { wholeFile } from './edits-between.ts';
import type { Edit } from './file-patch.ts';
import type { WorkBudget } from './work-budget.ts';
import type { FileSide } from './write-file-change.ts';

/** A file of a tree, by what a patch makes of the base commit. */
export interface PatchedFile extends FileSide {
  isBinary: boolean;
  edits: readonly Edit[];
  baseLines: ReadonlyMap<number, string>;
}

interface Pair {
  before: PatchedFile | null;
  after: PatchedFile | null;
}

/** As git has it: at least half of the content is the same. */
const leastSimilar = 0.5;

/**
 * Finds what went at one path and came at another one, or at the same; all else went or came. What the budget is too small
 * to compare is not looked for.
 */
export function pairRenames(gone: readonly PatchedFile[], come: readonly PatchedFile[], budget: WorkBudget): Pair[] {
  const left = new Set(come);
  const pairs: Pair[] = [];
  const unpaired = new Set(gone);
  const pair = (before: PatchedFile, after: PatchedFile) => {
    pairs.push({ before, after });
    left.delete(after);
    unpaired.delete(before);
  };
  const pairBy = (nameOf: (file: PatchedFile) => string | null) => {
    const byName = Map.groupBy([...left], (file) => `${kindOf(file)} ${nameOf(file)}`);
    for (const before of unpaired) {
      if (nameOf(before) === null) continue;
      const after = byName.get(`${kindOf(before)} ${nameOf(before)}`)?.shift();
      if (after !== undefined) pair(before, after);
    }
  };
  pairBy(({ path }) => path);
  pairBy((file) => (isEmpty(file) ? null : file.blob));
  if (isComparable(unpaired, left, budget)) {
    for (const before of unpaired) {
      const after = [...left].find((other) => isSimilar(before, other));
      if (after !== undefined) pair(before, after);
    }
  }
  const wentAndCame = [
    ...[...unpaired].map((before) => ({ before, after: null })),
    ...[...left].map((after) => ({ before: null, after })),
  ];
  return [...pairs, ...wentAndCame];
}

/** A link does not become a file: one goes, the other comes. */
function kindOf({ mode }: PatchedFile): string {
  return mode?.slice(0, 3) ?? '';
}

/** Each file of the one is compared with each of the other, by all their lines. */
function isComparable(gone: ReadonlySet<PatchedFile>, come: ReadonlySet<PatchedFile>, budget: WorkBudget): boolean {
  const linesOf = (files: ReadonlySet<PatchedFile>) =>
    [...files].reduce((sum, { edits, baseLines }) => sum + wholeFile(edits, baseLines).length + 1, 0);
  const steps = linesOf(gone) * come.size + linesOf(come) * gone.size;
  if (steps > budget.left) return false;
  budget.spend(steps);
  return true;
}

function isSimilar(before: PatchedFile, after: PatchedFile): boolean {
  const isText = !before.isBinary && !after.isBinary;
  return isText && kindOf(before) === kindOf(after) && similarity(before, after) >= leastSimilar;
}

function isEmpty({ isBinary, edits, baseLines }: PatchedFile): boolean {
  return !isBinary && wholeFile(edits, baseLines).length === 0;
}

/** The share of the larger file that is in both, by characters of whole lines. */
function similarity(before: PatchedFile, after: PatchedFile): number {
  const [old, now] = [before, after].map(({ edits, baseLines }) => wholeFile(edits, baseLines));
  const sizeOf = (lines: string[] = []) => lines.reduce((sum, { length }) => sum + length, 0);
  const left = new Map<string, number>();
  for (const line of old ?? []) left.set(line, (left.get(line) ?? 0) + 1);
  let common = 0;
  for (const line of now ?? []) {
    const times = left.get(line) ?? 0;
    if (times > 0) common += line.length;
    left.set(line, times - 1);
  }
  return common / Math.max(1, sizeOf(old), sizeOf(now));
}
