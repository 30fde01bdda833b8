export type Cell = string | number;

/** Prints rows below a title, numbers right-aligned. */
export function printTable(title: string, header: string[], rows: Cell[][]): void {
  const lines = [header, ...rows.map((row) => row.map(String))];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const isNumber = header.map((_, column) =>
    rows.every((row) => /^[<>~]?[\d,.–-]*( |$)/.test(String(row[column] ?? ''))),
  );
  console.log(`\n${title}`);
  for (const [number, line] of lines.entries()) {
    const cells = line.map((cell, column) =>
      isNumber[column] === true ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
    );
    console.log(`  ${cells.join('  ').trimEnd()}`);
    if (number === 0) console.log(`  ${widths.map((width) => '-'.repeat(width)).join('  ')}`);
  }
}

export function printNote(text: string): void {
  console.log(`  ${text}`);
}

/** Three significant digits, with thousands separators. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

export function median(values: number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
