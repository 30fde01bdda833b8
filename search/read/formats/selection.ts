const maxRanges = 100;

/** Selects lines by numbers, such as `1-3, 7, 10-`; ranges are also written `1:3` or `1..3`. */
export function inRanges(lines: string[], ranges: string): string[] {
  return ranges
    .split(/[,;]/)
    .slice(0, maxRanges)
    .flatMap((range) => {
      const [, first = '', dash = '', last = ''] = /^(\d*)(?:\s*(-|:|\.\.)\s*(-1|\d*))?$/.exec(range.trim()) ?? [];
      if (first === '' && last === '') return [];
      const from = Math.max(0, Number(first) - 1);
      return lines.slice(from, dash === '' ? from + 1 : last === '' || last === '-1' ? lines.length : Number(last));
    });
}

/** Removes the indentation that all lines have in common. */
export function dedented(lines: string[]): string[] {
  const least = Math.min(...lines.filter((line) => line.trim() !== '').map(widthOf));
  return lines.map((line) => line.slice(least));
}

export function widthOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** Indents the lines of an included text like the directive that it replaces. */
export function indentedLike(text: string, indent = ''): string {
  return indent === '' ? text : text.replaceAll(/^(?=[^\r\n])/gm, indent);
}

/** Returns a code block of Markdown; empty for no lines. */
export function codeBlock(lines: string[], language: string): string {
  if (lines.every((line) => line.trim() === '')) return '';
  const longest = Math.max(2, ...lines.map((line) => /^\s*(`{3,})/.exec(line)?.[1]?.length ?? 0));
  const fence = '`'.repeat(longest + 1);
  return [`${fence}${language}`, ...lines, fence].join('\n');
}
