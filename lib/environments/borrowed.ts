import type { z } from 'zod';
import { parseImageName } from '../inputs/image-name.ts';
import { parseEnvironment, type Environment } from './environment.ts';

/** Environment read from a file that was written for another product. */
export interface BorrowedEnvironment {
  environment: Environment;
  /** Parts that were not understood, as phrases. */
  ignored: string[];
}

/** Folder of the working copy, as commands see it. */
export const treePath = '/tree';

/**
 * Reads a description, leaves out its invalid parts and adds their paths to `ignored`. Returns null if a required part
 * is invalid.
 */
export function readParts<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  ignored: string[],
): z.output<Schema> | null {
  for (;;) {
    const { data, error } = schema.safeParse(value);
    if (error === undefined) return data ?? null;
    const removed = error.issues.filter(({ path }) => remove(value, path));
    if (removed.length === 0) return null;
    ignored.push(...removed.map(({ path }) => path.join('.').slice(0, 100)));
  }
}

/** Removes a part of a value; false if it is not there. In a list, null takes its place. */
function remove(value: unknown, [key, ...rest]: PropertyKey[]): boolean {
  if (typeof value !== 'object' || value === null || key === undefined || !Object.hasOwn(value, key)) return false;
  const part: unknown = Reflect.get(value, key);
  if (rest.length > 0) return remove(part, rest);
  if (!Array.isArray(value)) return Reflect.deleteProperty(value, key);
  return part !== null && Reflect.set(value, key, null);
}

/**
 * Reports whether a shell text has more than comments. Parentheses around a text without commands are a syntax error.
 */
export function hasCommands(script: string): boolean {
  return script.split('\n').some((line) => !/^\s*(?:#|$)/.test(line));
}

/** Returns the parts as a validated environment. A part beyond the limits is ignored as a whole. */
export function borrowed(environment: Environment, ignored: string[]): BorrowedEnvironment {
  const parsed = parseEnvironment(JSON.stringify(environment));
  if (parsed.ok) return { environment: parsed.environment, ignored };
  return { environment: {}, ignored: [`everything, because it ${parsed.problem}`] };
}

/** Returns packages that were found, as a part of an environment. */
export function withPackages(packages: ReadonlySet<string> | null): Pick<Environment, 'packages'> {
  return packages === null || packages.size === 0 ? {} : { packages: [...packages] };
}

/** The image of an environment; null unless it is the name of an image in a registry. */
export type PlainImage = Pick<Environment, 'image'> | null;

/** Returns the name of an image in a registry, as a part of an environment. */
export function plainImage(value: unknown): PlainImage {
  return typeof value === 'string' && parseImageName(value)?.kind === 'registry' ? { image: value } : null;
}
