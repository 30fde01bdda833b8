import { readFile } from 'node:fs/promises';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { CommandError } from '../command-error.ts';

/** Parses a whole number. The API enforces its range. */
export function readInteger(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** Parses an amount in US dollars such as `2.50`. Returns null for `none`. */
export function readDollars(text: string): number | null {
  if (text === 'none') return null;
  if (!/^\d{1,9}(?:\.\d{1,6})?$/.test(text))
    throw new InvalidArgumentError('It must be an amount in US dollars such as 2.50, or "none".');
  return Number(text);
}

/** Parses a number of days such as `30d`. Returns null for `never`. */
export function readDays(text: string): number | null {
  if (text === 'never') return null;
  const days = /^(\d{1,4})d$/.exec(text)?.[1];
  if (days === undefined) throw new InvalidArgumentError('It must be a number of days such as 90d, or "never".');
  return Number(days);
}

/** Efforts of a reasoning model; `default` resets the setting. */
const efforts = ['low', 'medium', 'high', 'default'] as const;
export type Effort = (typeof efforts)[number];

/** Maps `default` to null, for the model's own effort. */
function effortOf(effort: Effort | undefined) {
  return effort === 'default' ? null : effort;
}

/** Parses a number of tokens. Returns null for `default`. */
function readTokens(text: string): number | null {
  return text === 'default' ? null : readInteger(text);
}

/** Adds the options that set the model of jobs. */
export function addModelOptions(command: Command, model: string): Command {
  return command
    .option(
      '--model <provider/model>',
      `${model}; repeat it for fallback models, used in order while those before are down`,
      collect,
    )
    .addOption(new Option('--effort <effort>', "how much the model thinks (default: the model's own)").choices(efforts))
    .option('--max-output-tokens <number>', 'limit of each answer, or "default"', readTokens);
}

export interface ModelOptions {
  model?: string[];
  effort?: Effort;
  maxOutputTokens?: number | null;
}

/** Returns the fields of a request for the options that set the model of jobs. No model resets the setting. */
export function modelFieldsOf({ model, effort, maxOutputTokens }: ModelOptions) {
  return { models: model?.length === 0 ? null : model, reasoningEffort: effortOf(effort), maxOutputTokens };
}

/** Collects the values of a repeatable option. An empty value clears the list. */
export function collect(text: string, earlier: string[] = []): string[] {
  return text.trim() === '' ? [] : [...earlier, text];
}

/**
 * Parses the name of a file that holds a secret. Rejects a private key here, because the error would otherwise print
 * it.
 */
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

/** Returns the JSON in the file that an option names. The API checks what it contains. */
export async function jsonIn(file: string | undefined) {
  if (file === undefined) return undefined;
  const text = await textOf(file);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CommandError(`${file} is not JSON.`, { exitCode: 2, cause });
  }
}

/** Maps an empty text to null, which resets a setting. */
export function orNull<Value>(value: Value | '' | undefined): Value | null | undefined {
  return value === '' ? null : value;
}

/** Throws CommandError when no change was requested. */
export function checkChange(change: object): void {
  if (Object.values(change).every((value) => value === undefined))
    throw new CommandError('Use at least one option; --help lists them.', { exitCode: 2 });
}
