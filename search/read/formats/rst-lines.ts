/** Returns the number of leading blanks, without other white space, which indents nothing. */
export function indentOf(line: string): number {
  return /^ */.exec(line)?.[0].length ?? 0;
}

/** Returns where the indented or blank lines from `from` on end; blank lines at their end are not part of them. */
export function endOfIndented(lines: string[], from: number): number {
  let end = from;
  for (let at = from; at < lines.length && (lines[at] === '' || lines[at]?.startsWith(' ')); at += 1)
    if (lines[at] !== '') end = at + 1;
  return end;
}

export function dedented(lines: string[]): string[] {
  const least = Math.min(...lines.filter((line) => line !== '').map(indentOf));
  return lines.map((line) => line.slice(least));
}

export function indented(lines: string[], mark: string): string[] {
  const pad = ' '.repeat(mark.length);
  const all = lines.flatMap((line) => line.split('\n'));
  const start = all.findIndex((line) => line !== '');
  return all.slice(Math.max(0, start)).map((line, at) => (at === 0 ? mark + line : line === '' ? '' : pad + line));
}

export function fenced(lines: string[], language: string): string[] {
  const start = lines.findIndex((line) => line !== '');
  if (start === -1) return [];
  const fence = lines.some((line) => line.includes('```')) ? '~~~~' : '```';
  return ['', `${fence}${language}`, ...lines.slice(start), fence, ''];
}
