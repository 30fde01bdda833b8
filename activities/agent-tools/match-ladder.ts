import { indentedLines, shiftLines, uniformShift } from './indentation.ts';
import { offsetInView, viewOf, type TextView } from './text-view.ts';

/** How a region was found, from the strictest to the most tolerant. Nothing is ever matched by similarity. */
export const STAGES = ['exact', 'line endings', 'trailing whitespace', 'indentation', 'Unicode punctuation'] as const;
export type Stage = (typeof STAGES)[number];

/** A place where the old text stands, with old and new text as they would be written there. */
export interface FoundRegion {
  /** Offset in the view. */
  start: number;
  /** Length in the view. */
  length: number;
  old: string;
  new: string;
}

/** More than this many is never what an edit means. */
export const MAX_REGIONS = 100_000;

export interface FoundRegions {
  stage: Stage;
  view: TextView;
  regions: FoundRegion[];
}

const PUNCTUATION: [string, RegExp][] = [
  ["'", /[‘’‚‛′ʼ]/g],
  ['"', /[“”„‟″«»]/g],
  ['-', /[‐‑‒–—―−]/g],
  [' ', /[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g],
];

/**
 * Finds the old text by the first stage that finds anything; overlapping regions are all listed. `old` and `edit.new`
 * may have any line endings; those of the regions have LF. Null when no stage finds anything.
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
  // Blanks taken off the very end stand for the end of a line.
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

/** Every offset of a text, those that overlap too, up to one more than MAX_REGIONS. */
function indexesOf(text: string, sought: string): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(sought); at !== -1; at = text.indexOf(sought, at + 1)) {
    starts.push(at);
    if (starts.length > MAX_REGIONS) break;
  }
  return starts;
}

/** A CRLF is one character: a region neither begins nor ends inside it. */
function exactStarts(text: string, old: string): number[] {
  const isSplit = (at: number) => text[at] === '\n' && text[at - 1] === '\r';
  return indexesOf(text, old).filter((start) => !isSplit(start) && !isSplit(start + old.length));
}

function regionsAt(starts: number[], length: number, edit: { old: string; new: string }): FoundRegion[] {
  return starts.map((start) => ({ start, length, old: edit.old, new: edit.new }));
}

/** A last line that is not ended is found like any other; the newline added here leads to the end of the text. */
function withFinalNewline(view: TextView): TextView {
  return view.text === '' || view.text.endsWith('\n') ? view : { ...view, text: `${view.text}\n` };
}

function shiftedRegions(text: string, edit: { old: string; new: string }): FoundRegion[] {
  const endsWithNewline = edit.old.endsWith('\n');
  const old = indentedLines(viewOf(endsWithNewline ? edit.old.slice(0, -1) : edit.old, { withoutBlanks: true }).text);
  const lines = indentedLines(text);
  const lineIsOld = (line: number, at: number) => lines[line]?.content === old[at]?.content;
  const solid = old.map((_, at) => at).filter((at) => old[at]?.content !== '');
  const probe = solid[0] ?? 0;
  const regions: FoundRegion[] = [];
  let start = 0;
  for (let line = 0; line + old.length <= lines.length && regions.length <= MAX_REGIONS; line += 1) {
    if (lineIsOld(line + probe, probe) && old.every((_, at) => lineIsOld(line + at, at))) {
      const shift = uniformShift(
        solid.map((at) => old[at]?.indent ?? ''),
        solid.map((at) => lines[line + at]?.indent ?? ''),
      );
      const shifted = shift && { old: shiftLines(edit.old, shift), new: shiftLines(edit.new, shift) };
      if (shifted !== null && shifted.old !== null && shifted.new !== null) {
        const length = viewOf(shifted.old, { withoutBlanks: true }).text.length;
        regions.push({ start, length, old: shifted.old, new: shifted.new });
      }
    }
    start += lengthOf(lines[line]) + 1;
  }
  return regions;
}

function lengthOf(line: { indent: string; content: string } | undefined): number {
  return line === undefined ? 0 : line.indent.length + line.content.length;
}

function withPlainPunctuation(text: string): string {
  return PUNCTUATION.reduce((plain, [character, variants]) => plain.replaceAll(variants, character), text);
}
