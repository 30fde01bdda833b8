const numberedLine = /^ *\d+\|([\s\S]*)$/u;
const hitLine = /^(\S.*?):(\d+):/u;
const headedHit = /^\s*(\d+)[:\t|→]/u;
const cutNote = /\b(?:cut|truncated|limit|narrow|first \d+|more (?:hits|matches|files|results))\b/iu;

/** The most hits a search shows. */
const maxHits = 100;

/** Files that a search found, each with the line of its first hit, and whether the search showed only a part. */
export function parseHits(text: string): { files: { path: string; line: number }[]; isCut: boolean } {
  const firstHits = new Map<string, number>();
  let hits = 0;
  let isCut = false;
  let heading: string | null = null;
  for (const line of text.split('\n')) {
    const inline = hitLine.exec(line);
    const headed = heading === null ? null : headedHit.exec(line);
    const path = inline?.[1] ?? (headed === null ? null : heading);
    if (path === null || path === undefined) {
      isCut ||= cutNote.test(line);
      heading = line.trim() === '' ? null : line.trim().replace(/:$/u, '');
      continue;
    }
    hits += 1;
    if (!firstHits.has(path)) firstHits.set(path, Number(inline?.[2] ?? headed?.[1] ?? 1));
  }
  return { files: [...firstHits].map(([path, line]) => ({ path, line })), isCut: isCut || hits >= maxHits };
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
  for (const line of content.split('\n')) {
    if (numberedLine.test(line)) continue;
    const offset = /\boffset\D{0,12}(\d+)/iu.exec(line)?.[1];
    if (offset !== undefined) return Number(offset);
  }
  return null;
}

/** Whether a read says that the file holds nothing. */
export function saysEmpty(content: string): boolean {
  return content.trim() === '' || /\bempty\b|\b0 (?:lines|bytes)\b/iu.test(content);
}
