import { getChangeKey, type ChangeData } from 'react-diff-view';
import type { PatchFile } from './read-patch.ts';

/** A comment on a line of a diff, not sent yet. */
export interface LineComment {
  path: string;
  /** Key of the line within its file. */
  line: string;
  /** The line for people: "line 12" or "removed line 12". */
  place: string;
  /** The line as the patch has it, with its sign. */
  quote: string;
  text: string;
}

/** Gathered comments by file and line; undefined for a deleted one. */
export type Gathered = Record<string, LineComment | undefined>;

/** Gathers comments on the lines of a diff. */
export interface Review {
  /** Comments by file. */
  comments: ReadonlyMap<string, readonly LineComment[]>;
  change(changed: Gathered): void;
}

export function keyOfComment({ path, line }: Pick<LineComment, 'path' | 'line'>): string {
  return `${path}\n${line}`;
}

/** Returns a comment without its text for a line of a file. */
export function commentOn(path: string, change: ChangeData): LineComment {
  const [sign, number] =
    change.type === 'normal' ? [' ', change.newLineNumber] : [change.type === 'insert' ? '+' : '-', change.lineNumber];
  return {
    path,
    line: getChangeKey(change),
    place: `${sign === '-' ? 'removed line' : 'line'} ${number}`,
    quote: `${sign} ${change.content}`,
    text: '',
  };
}

/** Returns the lines of a file by their keys. */
export function linesOf({ hunks }: Pick<PatchFile, 'hunks'>): ReadonlyMap<string, ChangeData> {
  return new Map(hunks.flatMap(({ changes }) => changes.map((change) => [getChangeKey(change), change] as const)));
}

/** Reports whether the line of a comment is in the diff as it was when the comment was written. */
export function isOnLine({ path, line, quote }: LineComment, lines: ReadonlyMap<string, ChangeData>): boolean {
  const change = lines.get(line);
  return change !== undefined && commentOn(path, change).quote === quote;
}

/** Returns the gathered comments by file, then by line. */
export function inOrder(gathered: Gathered): LineComment[] {
  return Object.values(gathered)
    .filter((comment) => comment !== undefined)
    .sort((a, b) => a.path.localeCompare(b.path) || numberOf(a) - numberOf(b));
}

function numberOf({ line }: LineComment): number {
  return Number(line.slice(1));
}

/** Writes the comments as one message to the agent. `earlier` is the number of an earlier pull request that they are on. */
export function messageOfComments(comments: readonly LineComment[], earlier?: number): string {
  const parts = comments.map(({ path, place, quote, text }) => `${path}, ${place}:\n> ${quote}\n${text.trim()}`);
  const change = earlier === undefined ? 'your change' : `your earlier pull request #${earlier}`;
  return [`Comments on lines of ${change}:`, ...parts].join('\n\n');
}
