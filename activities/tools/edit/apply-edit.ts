import { findRegions, isTooMany, withLf, type FoundRegion, type FoundRegions, type Stage } from './match-ladder.ts';
import { maxFileBytes, lineAt } from './text-file.ts';
import { offsetInView, regionEnd, regionStart, viewOf } from './text-view.ts';

export interface Edit {
  old: string;
  new: string;
  replaceAll?: boolean;
}

/** Why an edit changes nothing; determines the model's output. */
export type EditFailure =
  | { reason: 'blank-old' }
  | { reason: 'same' }
  | { reason: 'no-change' }
  | { reason: 'not-found' }
  | { reason: 'already-applied'; line: number }
  | { reason: 'ambiguous'; stage: Stage; lines: number[]; count: number }
  | { reason: 'too-many' }
  | { reason: 'too-large' };

/** A changed range of the result. */
export interface Change {
  line: number;
  lineCount: number;
}

export type EditResult = { text: string; stage: Stage; changes: Change[] } | { failure: EditFailure };

/**
 * Replaces the region that an edit describes, or all of them with `replaceAll`. Text outside, line endings and the
 * final newline stay unchanged; inside, parts that old and new share keep the bytes of the file.
 */
export function applyEdit(text: string, edit: Edit): EditResult {
  if (edit.old.trim() === '') return { failure: { reason: 'blank-old' } };
  if (withLf(edit.old) === withLf(edit.new)) return { failure: { reason: 'same' } };
  const found = findRegions(text, edit);
  if (found === null) return { failure: absence(text, edit) };
  const regions = edit.replaceAll === true ? apart(found.regions) : found.regions;
  if (edit.replaceAll !== true && regions.length > 1) {
    const lines = regions.slice(0, 20).map(({ start }) => lineAt(found.view.text, start));
    return { failure: { reason: 'ambiguous', stage: found.stage, lines, count: regions.length } };
  }
  if (isTooMany(found)) return { failure: { reason: 'too-many' } };
  if (text.length + regions.length * (edit.new.length - edit.old.length) > maxFileBytes) {
    return { failure: { reason: 'too-large' } };
  }
  const replaced = replaceRegions(text, { ...found, regions });
  return replaced.text === text ? { failure: { reason: 'no-change' } } : { ...replaced, stage: found.stage };
}

/** A shorter text may be in a file by chance. */
const minProofLength = 8;

function absence(text: string, edit: Edit): EditFailure {
  if (edit.new.trim().length < minProofLength || edit.old.includes(edit.new)) return { reason: 'not-found' };
  const lines = withLf(text);
  const at = lines.indexOf(withLf(edit.new));
  return at === -1 ? { reason: 'not-found' } : { reason: 'already-applied', line: lineAt(lines, at) };
}

/** Returns the regions for a replacement of all, from the start, without overlaps. */
function apart(regions: FoundRegion[]): FoundRegion[] {
  const kept: FoundRegion[] = [];
  let end = 0;
  for (const region of regions) {
    if (region.start < end) continue;
    kept.push(region);
    end = region.start + region.length;
  }
  return kept;
}

function replaceRegions(text: string, found: FoundRegions): { text: string; changes: Change[] } {
  const lineEndingAt = lineEndingsIn(text);
  const parts: string[] = [];
  const changes: Change[] = [];
  let from = 0;
  let line = 1;
  for (const region of found.regions) {
    const { start, end, replacement } = replacementOf(found, region, lineEndingAt);
    const before = text.slice(from, start);
    line += newlinesIn(before);
    changes.push({ line, lineCount: newlinesIn(replacement) + 1 });
    line += newlinesIn(replacement);
    parts.push(before, replacement);
    from = end;
  }
  parts.push(text.slice(from));
  const result = parts.join('');
  const losesFinalNewline = text.endsWith('\n') && result !== '' && !result.endsWith('\n');
  return { text: losesFinalNewline ? result + lineEndingAt(text.length) : result, changes };
}

/** Returns the part of a region that actually differs, as offsets in the text. */
function replacementOf({ stage, view }: FoundRegions, region: FoundRegion, lineEndingAt: (offset: number) => string) {
  const withoutBlanks = stage !== 'exact' && stage !== 'line endings';
  const old = withoutBlanks
    ? viewOf(region.old, { withoutBlanks })
    : { text: region.old, original: region.old, gaps: [] };
  const shared = sharedEnds(region.old, region.new);
  // Whitespace at a line end is one unit: it is kept or replaced as a whole.
  const cut = old.gaps.find((gap) => shared.head > gap.start && shared.head <= gap.end);
  const head = cut?.start ?? shared.head;
  const tailStart = region.old.length - shared.tail;
  const tailCut = old.gaps.find((gap) => tailStart >= gap.start && tailStart < gap.end);
  const tail = region.old.length - (tailCut?.end ?? tailStart);
  const start = regionStart(view, region.start + offsetInView(old, head));
  const end = regionEnd(view, region.start + offsetInView(old, region.old.length - tail));
  const lineEnding = lineEndingAt(start);
  const replacement = region.new.slice(head, region.new.length - tail).replaceAll('\n', () => lineEnding);
  return { start, end: Math.max(start, end), replacement };
}

function sharedEnds(old: string, replacement: string): { head: number; tail: number } {
  const most = Math.min(old.length, replacement.length);
  let head = 0;
  while (head < most && old[head] === replacement[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old[old.length - 1 - tail] === replacement[replacement.length - 1 - tail]) tail += 1;
  return { head, tail };
}

/**
 * Returns the line ending of the line at an offset, or of the last line if that one is not terminated. Looks up each
 * line once.
 */
function lineEndingsIn(text: string): (offset: number) => string {
  let known = { from: 1, to: 0, ending: '\n' };
  return (offset) => {
    if (offset >= known.from && offset <= known.to) return known.ending;
    const next = text.indexOf('\n', offset);
    const at = next === -1 ? text.lastIndexOf('\n') : next;
    const ending = at > 0 && text[at - 1] === '\r' ? '\r\n' : '\n';
    known = { from: offset, to: next === -1 ? text.length : next, ending };
    return ending;
  };
}

function newlinesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
