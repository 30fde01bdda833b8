import type { Command } from 'commander';
import { asOneLine } from '../../lib/redaction/log-line.ts';

type Cell = string | number | boolean | Date | null | undefined;

/** Lines in which nothing moves the terminal's cursor or hides a word, whoever wrote them; JSON stays the same JSON. */
export function plain(text: string): string {
  return text.split('\n').map(asOneLine).join('\n');
}

export function print(text: string): void {
  console.log(plain(text));
}

/** Prints one thing: `name: value` lines for a person, or JSON with --json. */
export function printRecord(command: Command, record: object): void {
  if (isJson(command)) {
    print(JSON.stringify(record, null, 2));
    return;
  }
  const entries = entriesOf(record).filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(...entries.map(([name]) => name.length));
  for (const [name, value] of entries) print(`${`${name}:`.padEnd(width + 2)}${cellText(value)}`);
}

/** The entries of an object, those of an object in it as `outer.inner`. */
function entriesOf(record: object, prefix = ''): [string, unknown][] {
  return Object.entries(record).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
    return isNested ? entriesOf(value, `${prefix}${name}.`) : [[prefix + name, value]];
  });
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
  if (Array.isArray(value)) return value.length === 0 ? '-' : asOneLine(value.join(', '));
  return asOneLine(String(value));
}

/** One line of at most `most` characters. */
export function shortened(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

/** What a tool call is about: a path, a pattern or the first of its texts. */
export function subjectOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  const entries = Object.entries(input).filter(([, value]) => typeof value === 'string');
  const order = ['pattern', 'path', 'from', 'title'];
  const named = order.flatMap((name) => entries.filter(([key]) => key === name))[0];
  return String((named ?? entries[0])?.[1] ?? '');
}
