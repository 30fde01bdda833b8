/** Converts indentation of one text into that of another; returns null where it does not apply. */
export type Shift = (indent: string) => string | null;

export interface IndentedLine {
  indent: string;
  content: string;
}

const tabWidths = [4, 2, 8, 3];

export function indentedLines(text: string): IndentedLine[] {
  return text.split('\n').map((line) => {
    const content = line.replace(/^[ \t]+/, '');
    return { indent: line.slice(0, line.length - content.length), content };
  });
}

/**
 * Returns the single shift that turns every indentation in `from` into its counterpart in `to`; null when there is
 * none.
 */
export function uniformShift(from: string[], to: string[]): Shift | null {
  return (
    shiftsFor(from[0] ?? '', to[0] ?? '').find((shift) => from.every((indent, line) => shift(indent) === to[line])) ??
    null
  );
}

/** Applies a shift to all lines that are not blank; null when one of them cannot be shifted. */
export function shiftLines(text: string, shift: Shift): string | null {
  const lines: string[] = [];
  for (const { indent, content } of indentedLines(text)) {
    const shifted = content === '' ? '' : shift(indent);
    if (shifted === null) return null;
    lines.push(shifted + content);
  }
  return lines.join('\n');
}

/** Returns every shift that one pair of indentations allows, the simplest first. */
function shiftsFor(from: string, to: string): Shift[] {
  const shifts: Shift[] = [];
  if (to.endsWith(from)) {
    const added = to.slice(0, to.length - from.length);
    shifts.push((indent) => added + indent);
  }
  if (from.endsWith(to)) {
    const removed = from.slice(0, from.length - to.length);
    shifts.push((indent) => (indent.startsWith(removed) ? indent.slice(removed.length) : null));
  }
  const changes = tabWidths.map((width) => ({ width, columns: columnsOf(to, width) - columnsOf(from, width) }));
  const unmoved = changes.filter(({ columns }) => columns === 0);
  const moved = changes.filter(({ columns }) => columns !== 0);
  for (const { width, columns } of [...unmoved, ...moved]) {
    for (const unit of ['\t', ' ']) shifts.push((indent) => rendered(columnsOf(indent, width) + columns, unit, width));
  }
  return shifts;
}

function columnsOf(indent: string, width: number): number {
  let columns = 0;
  for (const character of indent) columns = character === '\t' ? columns - (columns % width) + width : columns + 1;
  return columns;
}

function rendered(columns: number, unit: string, width: number): string | null {
  if (columns < 0) return null;
  return unit === '\t' ? '\t'.repeat(Math.floor(columns / width)) + ' '.repeat(columns % width) : ' '.repeat(columns);
}
