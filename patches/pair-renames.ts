import { wholeFile } from './edits-between.ts';
import type { Edit } from './file-patch.ts';
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
const mostComparisons = 10_000;

/** Finds what went at one path and came at another one, or at the same; all else went or came. */
export function pairRenames(gone: readonly PatchedFile[], come: readonly PatchedFile[]): Pair[] {
  const left = new Set(come);
  const pairs: Pair[] = [];
  const unpaired = new Set(gone);
  const pair = (before: PatchedFile, after: PatchedFile) => {
    pairs.push({ before, after });
    left.delete(after);
    unpaired.delete(before);
  };
  const pairAll = (fits: (before: PatchedFile, after: PatchedFile) => boolean) => {
    for (const before of unpaired) {
      const after = [...left].find((other) => isSameKind(before, other) && fits(before, other));
      if (after !== undefined) pair(before, after);
    }
  };
  pairAll((before, after) => before.path === after.path);
  pairAll((before, after) => before.blob !== null && before.blob === after.blob && !isEmpty(before));
  if (unpaired.size * left.size <= mostComparisons)
    pairAll((before, after) => !before.isBinary && !after.isBinary && similarity(before, after) >= leastSimilar);
  const wentAndCame = [
    ...[...unpaired].map((before) => ({ before, after: null })),
    ...[...left].map((after) => ({ before: null, after })),
  ];
  return [...pairs, ...wentAndCame];
}

/** A link does not become a file: one goes, the other comes. */
function isSameKind(one: PatchedFile, other: PatchedFile): boolean {
  return one.mode?.slice(0, 3) === other.mode?.slice(0, 3);
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
