import { readFile } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { CommandError } from '../command-error.ts';

/** A whole number. The API says which ones it takes. */
export function readInteger(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** An amount in US dollars such as `2.50`; `none` is null. */
export function readDollars(text: string): number | null {
  if (text === 'none') return null;
  if (!/^\d{1,9}(?:\.\d{1,6})?$/.test(text))
    throw new InvalidArgumentError('It must be an amount in US dollars such as 2.50, or "none".');
  return Number(text);
}

/** A day count such as `30d`; `never` is null. */
export function readDays(text: string): number | null {
  if (text === 'never') return null;
  const days = /^(\d{1,4})d$/.exec(text)?.[1];
  if (days === undefined) throw new InvalidArgumentError('It must be a number of days such as 90d, or "never".');
  return Number(days);
}

/** Collects an option that is repeated; an empty text empties the list. */
export function collect(text: string, earlier: string[] = []): string[] {
  return text.trim() === '' ? [] : [...earlier, text];
}

/** The name of a file that holds a secret. A mistaken secret would otherwise be repeated in the error. */
export function readSecretPath(text: string): string {
  if (text.includes('PRIVATE KEY')) throw new InvalidArgumentError('It must be the name of a file, not its content.');
  return text;
}

export async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CommandError(`${file} cannot be read.`, { cause });
  }
}

/** An empty text takes a setting back. */
export function orNull<Value>(value: Value | '' | undefined): Value | null | undefined {
  return value === '' ? null : value;
}

/** Throws CommandError unless something is to be changed. */
export function checkChange(change: object): void {
  if (Object.values(change).every((value) => value === undefined))
    throw new CommandError('Name at least one change; --help lists what can be changed.', { exitCode: 2 });
}
