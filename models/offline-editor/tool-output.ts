const searchNote = /^\[(?:There are more|The search took|Folders deeper|Not searched|The answer is cut)/u;
const cursor = /Go on with after ("(?:[^"\\]|\\.)*")\.\]$/u;
/** Matches the output of a search without results, and the placeholder for an old output in a long prompt. */
const noFiles = /^(?:No line matches |\[\d+ characters of an earlier )/u;

export interface Found {
  paths: string[];
  /** Start of the next search; null when this one has covered everything it can. */
  goOnAfter: string | null;
  /** Files that the search skipped, as a phrase; null if it skipped none. */
  problem: string | null;
}

/** Parses the output of a search with `filesOnly`. */
export function readFound(text: string): Found {
  const lines = text.split('\n').filter((line) => line !== '');
  const firstNote = lines.findIndex((line) => searchNote.test(line));
  const notes = firstNote === -1 ? [] : lines.splice(firstNote);
  const isCut = notes.some((line) => line.startsWith('[The answer is cut'));
  // the last path of a truncated output may be truncated itself
  const paths = noFiles.test(text) ? [] : lines.slice(0, isCut ? -1 : undefined);
  const goOn = notes.map((line) => cursor.exec(line)?.[1]).find((found) => found !== undefined);
  const missed = notes.filter((line) => !cursor.test(line) && !line.startsWith('[The answer is cut'));
  return {
    paths,
    goOnAfter: isCut ? (paths.at(-1) ?? null) : goOn === undefined ? null : String(JSON.parse(goOn)),
    problem: missed.length === 0 ? null : missed.map((line) => line.replace(/^\[|\.?\]$/gu, '')).join('; '),
  };
}

/** Returns the line at which to continue after a partial read of the file. */
export function windowAfter(window: string): number | null {
  const offset = /^\[[^\n]*\boffset (\d+)/mu.exec(window)?.[1];
  return offset === undefined ? null : Number(offset);
}

/**
 * Returns the last lines of a file, as few as are unique in it and not only blank ones. Null when the file has none, or
 * when the reads left something out that no further read shows, such as the rest of a very long line.
 */
export function endOf(content: string): string | null {
  const lines = content.split('\n').flatMap((line) => /^ *\d+\|([\s\S]*)$/u.exec(line)?.[1] ?? []);
  const text = lines.join('\n');
  if (text.trim() === '' || /^\[(?![^\n]*\boffset \d)/mu.test(content)) return null;
  for (let count = 1; ; count *= 2) {
    const end = lines.slice(-count).join('\n');
    const isUnique = end.trim() !== '' && text.indexOf(end) === text.length - end.length;
    if (isUnique || count >= lines.length) return end;
  }
}
