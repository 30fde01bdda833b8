import { z } from 'zod';

/**
 * Checks the items of a list one by one and throws at the first that is wrong: a list's own schema would collect the problems
 * of a million items. What is no list is left to the schema.
 */
export function checkItems(list: unknown, item: z.ZodType, path: PropertyKey[]): void {
  if (!Array.isArray(list)) return;
  for (const [index, value] of list.entries()) {
    const { error } = item.safeParse(value);
    if (error === undefined) continue;
    throw new z.ZodError(error.issues.map((issue) => ({ ...issue, path: [...path, index, ...issue.path] })));
  }
}

/** A field of something that was not validated yet. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
