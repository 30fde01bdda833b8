import { type IndentedLine, indentedLines, shiftLines, uniformShift } from './indentation.ts';
import { offsetInView, viewOf, type TextView } from './text-view.ts';

/** How a region was found, from the strictest to the most tolerant. Nothing is matched by similarity. */
const stages = ['exact', 'line endings', 'trailing whitespace', 'indentation', 'Unicode punctuation'] as const;
export type Stage = (typeof stages)[number];

/** A place where the old text was found, with old and new text as they would be written there. */
export interface FoundRegion {
  /** Offset in the view. */
  start: number;
  /** Length in the view. */
  length: number;
  old: string;
  new: string;
}

const maxRegions = 100_000;
const maxShiftedRegions = 1_000;

/** More matches than an edit can mean; the list is then incomplete. */
export function isTooMany({ stage, regions }: FoundRegions): boolean {
  return regions.length > (stage === 'indentation' ? maxShiftedRegions : maxRegions);
}

export interface FoundRegions {
  stage: Stage;
  view: TextView;
  regions: FoundRegion[];
}

const punctuation: [string, RegExp][] = [
  ["'", /[‘’‚‛′ʼ]/g],
  ['"', /[“”„‟″«»]/g],
  ['-', /[‐‑‒–—―−]/g],
  [' ', /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g],
];

/**
 * Finds the old text with the first stage that matches; all regions are listed, also overlapping ones. `old` and
 * `edit.new` may have any line endings; those of the regions have LF. Null when no stage matches.
 */
export function findRegions(text: string, edit: { old: string; new: string }): FoundRegions | null {
  const plain = { old: withLf(edit.old), new: withLf(edit.new) };
  const lines = viewOf(text, { withoutBlanks: false });
  const exact = exactStarts(text, edit.old).map((start) => offsetInView(lines, start));
  if (exact.length > 0) return { stage: 'exact', view: lines, regions: regionsAt(exact, plain.old.length, plain) };

  const closed = withFinalNewline(lines);
  const byLineEndings = indexesOf(closed.text, plain.old);
  if (byLineEndings.length > 0) {
    return { stage: 'line endings', view: closed, regions: regionsAt(byLineEndings, plain.old.length, plain) };
  }

  const trimmed = withFinalNewline(viewOf(text, { withoutBlanks: true }));
  const old = viewOf(plain.old, { withoutBlanks: true }).text;
  // Whitespace removed from the very end stands for the end of a line.
  const endsLine = old.endsWith('\n') || !/[ \t]$/.test(plain.old);
  const startsIn = (view: string, sought: string) =>
    indexesOf(view, sought).filter((at) => endsLine || (view[at + sought.length] ?? '\n') === '\n');
  const byBlanks = startsIn(trimmed.text, old);
  if (byBlanks.length > 0) {
    return { stage: 'trailing whitespace', view: trimmed, regions: regionsAt(byBlanks, old.length, plain) };
  }

  const byIndentation = shiftedRegions(trimmed.text, plain);
  if (byIndentation.length > 0) return { stage: 'indentation', view: trimmed, regions: byIndentation };

  const byPunctuation = startsIn(withPlainPunctuation(trimmed.text), withPlainPunctuation(old));
  if (byPunctuation.length === 0) return null;
  return { stage: 'Unicode punctuation', view: trimmed, regions: regionsAt(byPunctuation, old.length, plain) };
}

export function withLf(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function indexesOf(text: string, sought: string): number[] {
  return occurrencesOf(sought, text, maxRegions + 1);
}

/** Treats CRLF as one character: a region neither starts nor ends inside it. */
function exactStarts(text: string, old: string): number[] {
  const isSplit = (at: number) => text[at] === '\n' && text[at - 1] === '\r';
  return indexesOf(text, old).filter((start) => !isSplit(start) && !isSplit(start + old.length));
}

function regionsAt(starts: number[], length: number, edit: { old: string; new: string }): FoundRegion[] {
  return starts.map((start) => ({ start, length, old: edit.old, new: edit.new }));
}

/** Terminates the last line, so that it is found like any other; the added newline maps to the end of the text. */
function withFinalNewline(view: TextView): TextView {
  return view.text === '' || view.text.endsWith('\n') ? view : { ...view, text: `${view.text}\n` };
}

function shiftedRegions(text: string, edit: { old: string; new: string }): FoundRegion[] {
  const endsWithNewline = edit.old.endsWith('\n');
  const old = indentedLines(viewOf(endsWithNewline ? edit.old.slice(0, -1) : edit.old, { withoutBlanks: true }).text);
  const lines = indentedLines(text);
  const contentsOf = (list: IndentedLine[]) => list.map(({ content }) => content);
  const starts = occurrencesOf(contentsOf(old), contentsOf(lines), maxRegions);
  const offsets = starts.length === 0 ? [] : lineOffsets(lines);
  const indents = old.filter(({ content }) => content !== '').map(({ indent }) => indent);
  const regions: FoundRegion[] = [];
  for (const start of starts) {
    const there = lines.slice(start, start + old.length).filter(({ content }) => content !== '');
    const shift = uniformShift(
      indents,
      there.map(({ indent }) => indent),
    );
    if (shift === null) continue;
    const shifted = { old: shiftLines(edit.old, shift), new: shiftLines(edit.new, shift) };
    if (shifted.old === null || shifted.new === null) continue;
    const length = viewOf(shifted.old, { withoutBlanks: true }).text.length;
    regions.push({ start: offsets[start] ?? 0, length, old: shifted.old, new: shifted.new });
    if (regions.length > maxShiftedRegions) break;
  }
  return regions;
}

function lineOffsets(lines: IndentedLine[]): number[] {
  let offset = 0;
  return lines.map(({ indent, content }) => {
    const start = offset;
    offset += indent.length + content.length + 1;
    return start;
  });
}

function withPlainPunctuation(text: string): string {
  return punctuation.reduce((plain, [character, variants]) => plain.replaceAll(variants, character), text);
}

/**
 * Returns every position, up to a limit, at which a sequence occurs in another, overlapping ones included. Takes linear
 * time in both (Knuth-Morris-Pratt).
 */
function occurrencesOf<Item>(sought: ArrayLike<Item>, within: ArrayLike<Item>, limit: number): number[] {
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
