import type { AgentPath } from '../files/agent-path.ts';
import type { Change, Edit, EditFailure } from './apply-edit.ts';
import { type Stage, withLf } from './match-ladder.ts';
import { countText, cutToBytes, numberedLines } from '../tool-output.ts';

const shownChanges = 3;
const shownLines = 12;
/** Bytes of a line. */
const shownBytes = 2_000;
const contextLines = 2;

/** Returns the output for an edit that changes nothing: the reason and what to do. */
export function failureSentence(
  path: AgentPath,
  { text, edit, failure }: { text: string; edit: Edit; failure: EditFailure },
): string {
  switch (failure.reason) {
    case 'blank-old':
      return 'old is empty or only whitespace; give the text to replace. To create a file, use write.';
    case 'same':
      return 'old and new are the same, so there is nothing to change.';
    case 'no-change':
      return `The edit leaves ${path.shown} as it is; there is nothing to change.`;
    case 'too-many':
      return `old occurs too often in ${path.shown}; give a longer text.`;
    case 'too-large':
      return `The edit would make ${path.shown} larger than the tools can write; nothing was changed.`;
    case 'ambiguous':
      return ambiguity(path, failure);
    case 'already-applied':
      return `old was not found in ${path.shown}, but new is at line ${failure.line}: the edit seems to be applied already.${nearest(text, edit.old)}`;
    case 'not-found':
      return `old was not found in ${path.shown}.${nearest(text, edit.old)}`;
  }
}

/** Returns the output for an edit: where it was made, how it matched, and the changed lines. */
export function changeText({ stage, changes }: { stage: Stage; changes: Change[] }): string {
  const lines = changes.slice(0, 20).map(({ line }) => line);
  const more = changes.length > lines.length ? ', …' : '';
  return `${countText(changes.length, 'region')} at line ${lines.join(', ')}${more} (match: ${stage})`;
}

/** Returns the changed lines with some context, in the format of `read`. */
export function changedLines(text: string, changes: Change[]): string {
  const lines = text.split('\n');
  const excerpts = changes.slice(0, shownChanges).map(({ line, lineCount }) => {
    const first = Math.max(1, line - contextLines);
    const last = Math.min(line - 1 + Math.min(lineCount, shownLines) + contextLines, lines.length);
    const shown = lines.slice(first - 1, last).map((line) => cutToBytes(line.replace(/\r$/, ''), shownBytes));
    return numberedLines(shown, first);
  });
  return excerpts.join('\n   ...\n');
}

function ambiguity(path: AgentPath, { stage, lines, count }: { stage: Stage; lines: number[]; count: number }): string {
  const more = count > lines.length ? ', …' : '';
  return (
    `old occurs at ${countText(count, 'place')} in ${path.shown} (lines ${lines.join(', ')}${more}; match: ${stage}). ` +
    'Include more surrounding lines so that it matches only once, or set replaceAll.'
  );
}

function nearest(text: string, old: string): string {
  const regions = nearestRegions(text, old);
  if (regions.length === 0) return ' Nothing in the file resembles it; read the file again.';
  const shown = regions.map(({ line, lines }) => numberedLines(lines.map(visible), line));
  return ` What comes nearest (→ stands before each tab):\n${shown.join('\n   ...\n')}`;
}

/** Returns the exact characters of a line, with a mark for invisible ones. */
function visible(line: string): string {
  return cutToBytes(line, shownBytes)
    .replaceAll('\t', '→\t')
    .replaceAll(/[\r\u00a0\u200b-\u200d\u2060\ufeff]/g, (character) => `<U+${hexOf(character)}>`);
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
}

interface NearRegion {
  line: number;
  lines: string[];
}

const maxRegions = 3;
const maxLines = 40;
/** Limit of the search in a long file; it only improves an error message. */
const maxSearchedCharacters = 1_000_000;

/** Returns the places of a text that share the most with a text that was not found. They are shown and never edited. */
function nearestRegions(text: string, sought: string): NearRegion[] {
  const lines = withLf(text.slice(0, maxSearchedCharacters)).split('\n');
  const soughtLines = withLf(sought).trim().split('\n').slice(0, maxLines);
  const scores = lineScores(lines, new Set(soughtLines.flatMap(trigramsOf)));
  const height = Math.min(soughtLines.length, lines.length);
  const windows = windowScores(scores, height);
  const taken: number[] = [];
  const best = windows.map((score, line) => ({ score, line })).filter(({ score }) => score > 0);
  best.sort((left, right) => right.score - left.score || left.line - right.line);
  for (const { line } of best) {
    if (taken.length === maxRegions) break;
    if (taken.every((other) => Math.abs(other - line) >= height)) taken.push(line);
  }
  return taken.map((line) => ({ line: line + 1, lines: lines.slice(line, line + height) }));
}

/** Returns how much each line shares with the text; rare trigrams count more than common ones. */
function lineScores(lines: string[], sought: Set<string>): number[] {
  const counts = new Map<string, number>();
  const shared = lines.map((line) => {
    const found = new Set(trigramsOf(line).filter((trigram) => sought.has(trigram)));
    for (const trigram of found) counts.set(trigram, (counts.get(trigram) ?? 0) + 1);
    return found;
  });
  return shared.map((found) => [...found].reduce((score, trigram) => score + 1 / (counts.get(trigram) ?? 1), 0));
}

function windowScores(scores: number[], height: number): number[] {
  let sum = 0;
  const windows: number[] = [];
  for (const [line, score] of scores.entries()) {
    sum += score - (scores[line - height] ?? 0);
    // Sums of fractions drift, so a score whose parts have all been removed is reset.
    if (line >= height - 1) windows.push(sum > 1e-9 ? sum : 0);
  }
  return windows;
}

function trigramsOf(line: string): string[] {
  const plain = line.trim().replaceAll(/\s+/g, ' ').toLowerCase();
  if (plain.length < 3) return plain === '' ? [] : [plain];
  return Array.from({ length: plain.length - 2 }, (_, at) => plain.slice(at, at + 3));
}
