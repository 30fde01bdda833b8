import type { AgentPath } from '../files/agent-path.ts';
import type { Change, Edit, EditFailure } from './apply-edit.ts';
import type { Stage } from './match-ladder.ts';
import { nearestRegions } from './nearest-regions.ts';
import { countText, numberedLines } from '../tool-output.ts';

const shownChanges = 3;
const shownLines = 12;
const shownCharacters = 2_000;
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
  const lines = text.split('\n').map((line) => line.replace(/\r$/, '').slice(0, shownCharacters));
  const excerpts = changes.slice(0, shownChanges).map(({ line, lineCount }) => {
    const first = Math.max(1, line - contextLines);
    const last = Math.min(line - 1 + Math.min(lineCount, shownLines) + contextLines, lines.length);
    return numberedLines(lines.slice(first - 1, last), first);
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
  return line
    .slice(0, shownCharacters)
    .replaceAll('\t', '→\t')
    .replaceAll(/[\r\u00a0\u200b-\u200d\u2060\ufeff]/g, (character) => `<U+${hexOf(character)}>`);
}

function hexOf(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
}
