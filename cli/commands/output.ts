import type { Command } from 'commander';
import { asOneLine } from '../../lib/redaction/log-line.ts';

type Cell = string | number | boolean | Date | null | undefined;

/** Escapes untrusted text so that it cannot move the terminal's cursor or hide words. JSON keeps its meaning. */
export function plain(text: string): string {
  return text.split('\n').map(asOneLine).join('\n');
}

export function print(text: string): void {
  console.log(plain(text));
}

/** Prints one record: `name: value` lines for a person, or JSON with --json. */
export function printRecord(command: Command, record: object): void {
  if (isJson(command)) {
    print(JSON.stringify(record, null, 2));
    return;
  }
  const entries = entriesOf(record).filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(...entries.map(([name]) => name.length));
  for (const [name, value] of entries) print(`${`${name}:`.padEnd(width + 2)}${cellText(value)}`);
}

/** Returns the entries of an object. Entries of a nested object are named `outer.inner`, those of a list `list.0.inner`. */
function entriesOf(record: object, prefix = ''): [string, unknown][] {
  return Object.entries(record).flatMap(([name, value]: [string, unknown]): [string, unknown][] =>
    isNested(value) ? entriesOf(value, `${prefix}${name}.`) : [[prefix + name, value]],
  );
}

/** Reports whether a value has entries to print one by one; a list of texts or numbers is one line. */
function isNested(value: unknown): value is object {
  if (Array.isArray(value)) return value.some(isNested);
  return typeof value === 'object' && value !== null && !(value instanceof Date);
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

/** Prints rows in aligned columns below their titles. */
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

/** Reports whether --json was given. */
export function isJson(command: Command): boolean {
  return command.optsWithGlobals<{ json?: boolean }>().json === true;
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.length === 0 ? '-' : asOneLine(value.join(', '));
  return asOneLine(String(value));
}

/** Returns the text as one line of at most `maxLength` characters. */
export function shortened(text: string, maxLength: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1)}…`;
}

/** Returns the subject of a tool call: a path, a pattern or the first string in its input. */
export function subjectOf(input: unknown): string {
  if (typeof input !== 'object' || input === null) return '';
  const entries = Object.entries(input).filter(([, value]) => typeof value === 'string');
  const order = ['pattern', 'path', 'from', 'title'];
  const named = order.flatMap((name) => entries.filter(([key]) => key === name))[0];
  return String((named ?? entries[0])?.[1] ?? '');
}
