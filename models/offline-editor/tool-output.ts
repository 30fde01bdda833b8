const numberedLine = /^ *\d+\|([\s\S]*)$/u;
const hitLine = /^(.+?):(\d+): /u;
const moreInFile = ': more hits in this file are not shown';
/** What takes the place of an old output in a long prompt. */
const leftOut = /^\[\d+ characters of an earlier /u;

/** Files that a search found, each with the line of its first hit, and whether the search may have missed some. */
export function parseHits(text: string): { files: { path: string; line: number }[]; isCut: boolean } {
  const firstHits = new Map<string, number>();
  let isCut = false;
  for (const line of text.split('\n')) {
    const [, path, number] = hitLine.exec(line) ?? [];
    if (path === undefined) isCut ||= line.startsWith('[') && !line.endsWith(moreInFile) && !leftOut.test(line);
    else if (!firstHits.has(path)) firstHits.set(path, Number(number));
  }
  return { files: [...firstHits].map(([path, line]) => ({ path, line })), isCut };
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
