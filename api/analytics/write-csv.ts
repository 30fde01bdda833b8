/** Beginnings that make a spreadsheet read a text as a formula. */
const formula = /^[\s]*[=+\-@\t\r|%]/;

/** Returns rows as CSV (RFC 4180) with a header. A text that a spreadsheet would run as a formula gets a leading `'`. */
export function writeCsv(columns: readonly string[], rows: readonly (string | number | null)[][]): string {
  return [columns, ...rows].map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const safe = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
