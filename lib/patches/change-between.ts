import { editsBetween, wholeFile } from './edits-between.ts';
import { readFilePatches, type FilePatch } from './file-patch.ts';
import { diffLines } from './line-diff.ts';
import { changedBetween, filesOfPatch } from './patch-files.ts';
import { pairRenames, type PatchedFile } from './pair-renames.ts';
import { createWorkBudget, type WorkBudget } from './work-budget.ts';
import { writeFileChange, type FileDifference } from './write-file-change.ts';

/** Of more lines or characters, in both patches together, only the names of the files are compared. */
const mostLines = 400_000;
const mostCharacters = 16_000_000;

/** The same file before and after; null where it is not there. */
interface Fate {
  before: PatchedFile | null;
  after: PatchedFile | null;
}

/**
 * What leads from one tree to another, as a patch, by the patches of both against the same commit. Nothing else is needed:
 * where neither patch has a line, the trees have the same. Patches are as snapshots have them (`--full-index --binary`); of
 * binary files the answer says only that they differ. Where a patch was too large to be kept, or is too large to be compared,
 * it is a list of names; where the budget is spent, it shows lines as replaced and files as new.
 */
export function changeBetween(before: string, after: string, budget = createWorkBudget()): string {
  if (isList(before) || isList(after) || isTooLarge(before + after)) return listBetween(before, after);
  const fates = fatesOf(readFilePatches(before), readFilePatches(after));
  const stayed = fates.filter(({ before, after }) => before !== null && after !== null);
  const gone = fates.flatMap(({ before, after }) => (before !== null && after === null ? [before] : []));
  const come = fates.flatMap(({ before, after }) => (before === null && after !== null ? [after] : []));
  const differences = [
    ...stayed.map((fate) => sameFile(fate, budget)),
    ...pairRenames(gone, come, budget).map((fate) => otherFile(fate, budget)),
  ];
  const pathOf = ({ before, after }: FileDifference) => (after ?? before)?.path ?? '';
  return differences
    .toSorted((one, other) => (pathOf(one) < pathOf(other) ? -1 : 1))
    .map(writeFileChange)
    .join('');
}

/** A tree as a snapshot has it. */
export interface PatchedTree {
  baseCommit: string;
  patch: string;
}

/**
 * What leads from one tree to another; null is the tree of the base commit. `base`: they stand on different commits, and the
 * patch is the one of the later tree against its own.
 */
export function changeOfTrees(
  before: PatchedTree | null,
  after: PatchedTree | null,
): { patch: string; kind: 'exact' | 'base' } {
  if (before !== null && after !== null && before.baseCommit !== after.baseCommit)
    return { patch: after.patch, kind: 'base' };
  return { patch: changeBetween(before?.patch ?? '', after?.patch ?? ''), kind: 'exact' };
}

function fatesOf(before: FilePatch[], after: FilePatch[]): Fate[] {
  const keyOf = ({ oldPath, newPath }: FilePatch) => (oldPath === null ? `new ${newPath}` : `base ${oldPath}`);
  const [old, now] = [before, after].map((files) => new Map(files.map((file) => [keyOf(file), file])));
  const keys = new Set([...(old?.keys() ?? []), ...(now?.keys() ?? [])]);
  return [...keys].flatMap((key) => {
    const [one, other] = [old?.get(key), now?.get(key)];
    return one?.text === other?.text ? [] : [fateOf(one, other)];
  });
}

function fateOf(before: FilePatch | undefined, after: FilePatch | undefined): Fate {
  const path = before?.oldPath ?? after?.oldPath ?? null;
  const mode = before?.oldMode ?? after?.oldMode ?? null;
  const blob = before?.oldBlob ?? after?.oldBlob ?? null;
  const baseLines = new Map([...(before?.baseLines ?? []), ...(after?.baseLines ?? [])]);
  const isBinary = before?.isBinary === true || after?.isBinary === true;
  const side = (patch: FilePatch | undefined): PatchedFile | null => {
    if (patch === undefined) return path === null ? null : { path, mode, blob, isBinary, edits: [], baseLines };
    const { newPath, newMode, newBlob, edits } = patch;
    if (newPath === null) return null;
    return { path: newPath, mode: newMode ?? mode, blob: newBlob ?? blob, isBinary, edits, baseLines };
  };
  return { before: side(before), after: side(after) };
}

function sameFile({ before, after }: Fate, budget: WorkBudget): FileDifference {
  if (before === null || after === null) return { before, after, lines: null };
  const isText = !before.isBinary && !after.isBinary;
  const lines = isText ? editsBetween(before.edits, after.edits, before.baseLines, budget) : null;
  return { before, after, lines };
}

/** Files that came or went stand in a patch in all their lines. */
function otherFile({ before, after }: Fate, budget: WorkBudget): FileDifference {
  const wholeOf = (file: PatchedFile | null) => (file === null ? [] : wholeFile(file.edits, file.baseLines));
  const isText = before?.isBinary !== true && after?.isBinary !== true;
  return { before, after, lines: isText ? diffLines(wholeOf(before), wholeOf(after), budget) : null };
}

function isTooLarge(patches: string): boolean {
  if (patches.length > mostCharacters) return true;
  let lines = 0;
  for (let at = patches.indexOf('\n'); at !== -1 && lines <= mostLines; at = patches.indexOf('\n', at + 1)) lines += 1;
  return lines > mostLines;
}

function isList(patch: string): boolean {
  return patch !== '' && !patch.startsWith('diff --git ');
}

const letters = { added: 'A', changed: 'M', deleted: 'D' };

function listBetween(before: string, after: string): string {
  const files = changedBetween(filesOfPatch(before), filesOfPatch(after));
  const names = files.map(({ path, change }) => `${letters[change]}\t${path}\n`);
  return `The change is too large to be compared; these files came, went or are changed for the first time:\n${names.join('')}`;
}
