const numberedLine = /^ *\d+\|([\s\S]*)$/u;
/** What takes the place of an old output in a long prompt. */
const leftOut = /^\[\d+ characters of an earlier /u;
const noHits = /^No line matches /u;
const searchNote = /^\[(?:There are more|The search took|Folders deeper|Not searched|The answer is cut)/u;
const cursor = /Go on with after ("(?:[^"\\]|\\.)*")\.\]$/u;

export interface FoundFiles {
  paths: string[];
  /** Where the next search begins; null: this one has seen everything it can. */
  goOnAfter: string | null;
  /** What the search did not look at, in a phrase; null: nothing. */
  problem: string | null;
}

/** The files that a search for `filesOnly` found. */
export function parseFiles(text: string): FoundFiles {
  const lines = text.split('\n');
  const firstNote = lines.findIndex((line) => searchNote.test(line));
  const notes = firstNote === -1 ? [] : lines.slice(firstNote);
  const isCut = notes.some((line) => line.startsWith('[The answer is cut'));
  const shown = lines.slice(0, firstNote === -1 ? lines.length : firstNote).filter((line) => line !== '');
  // the last path of an answer that was cut may be cut itself
  const paths = leftOut.test(text) || noHits.test(text) ? [] : shown.slice(0, isCut ? -1 : undefined);
  const goOn = notes.map((line) => cursor.exec(line)?.[1]).find((found) => found !== undefined);
  const missed = notes.filter((line) => !cursor.test(line) && !line.startsWith('[The answer is cut'));
  return {
    paths,
    goOnAfter: isCut ? (paths.at(-1) ?? null) : goOn === undefined ? null : String(JSON.parse(goOn)),
    problem: missed.length === 0 ? null : missed.map((line) => line.replace(/^\[|\.?\]$/gu, '')).join('; '),
  };
}

/**
 * The last lines of a file as a read showed it: as few as stand nowhere else in it, and not only blank ones. Null when the
 * file has none.
 */
export function endOf(content: string): string | null {
  const lines = content.split('\n').flatMap((line) => {
    const match = numberedLine.exec(line);
    return match === null ? [] : [match[1] ?? ''];
  });
  const text = lines.join('\n');
  if (text.trim() === '') return null;
  for (let count = 1; ; count *= 2) {
    const end = lines.slice(-count).join('\n');
    const isUnique = end.trim() !== '' && text.indexOf(end) === text.length - end.length;
    if (isUnique || count >= lines.length) return end;
  }
}

/** The line a read goes on at when it showed only a part of the file. */
export function readsOn(content: string): number | null {
  const offset = /^\[[^\n]*\boffset (\d+)/mu.exec(content)?.[1];
  return offset === undefined ? null : Number(offset);
}

/** Whether a read left something out that no further read shows, as the rest of a very long line. */
export function isIncomplete(content: string): boolean {
  return /^\[(?![^\n]*\boffset \d)/mu.test(content);
}

/** Whether a read says that the file holds nothing. */
export function saysEmpty(content: string): boolean {
  return /^The file is empty\.$/mu.test(content);
}

/** Whether a failed read says that there is no such file. */
export function saysMissing(problem: string): boolean {
  return problem.includes('does not exist');
}
