import type { Command } from 'commander';
import { asOneLine } from '../../lib/redaction/log-line.ts';

type Cell = string | number | boolean | Date | null | undefined;

/** Prints lines in which nothing moves the terminal's cursor or hides a word, whoever wrote them; JSON stays the same JSON. */
export function print(text: string): void {
  console.log(text.split('\n').map(asOneLine).join('\n'));
}

/** Prints one thing: `name: value` lines for a person, or JSON with --json. */
export function printRecord(command: Command, record: Record<string, unknown>): void {
  if (isJson(command)) {
    print(JSON.stringify(record, null, 2));
    return;
  }
  const entries = Object.entries(record).filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(...entries.map(([name]) => name.length));
  for (const [name, value] of entries) print(`${`${name}:`.padEnd(width + 2)}${cellText(value)}`);
}

/** Prints a list: an aligned table for a person, or a JSON array with --json. */
export function printList<Row extends object>(
  command: Command,
  rows: Row[],
  columns: Record<string, (row: Row) => Cell>,
): void {
  if (isJson(command)) {
    print(JSON.stringify(rows, null, 2));
    return;
  }
  if (rows.length === 0) {
    print('(none)');
    return;
  }
  printTable(
    Object.keys(columns),
    rows.map((row) => Object.values(columns).map((cell) => cellText(cell(row)))),
  );
}

/** Prints rows below their titles, in columns. */
export function printTable(titles: string[], rows: string[][]): void {
  const table = [titles, ...rows];
  const widths = titles.map((_, index) => Math.max(...table.map((cells) => cells[index]?.length ?? 0)));
  for (const cells of table) {
    print(
      cells
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
}

/** Whether --json was given. */
export function isJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean }>().json === true;
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.join(', ');
  return String(value);
}
