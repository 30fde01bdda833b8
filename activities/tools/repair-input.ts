import type { z } from 'zod';
import { createJsonScan } from '../../lib/json-scan.ts';

/** Limits of a call's arguments; parsing and validating them takes time by the number of values. */
export const argumentLimits = { maxDepth: 100, maxValues: 5_000 };

/** A value inside of another one can be of the wrong form only after the outer one was read. */
const maxPasses = 3;

/**
 * Parses the input of a call as it was meant: with `null` for what may be left out, and with numbers, booleans, lists and
 * objects that a model wrote as text. Returns null when the input is not valid then either.
 */
export function repairInput(schema: z.ZodType, input: unknown): { data: unknown } | null {
  let repaired = input;
  for (let pass = 0; pass < maxPasses; pass += 1) {
    const parsed = schema.safeParse(repaired);
    if (parsed.success) return { data: parsed.data };
    for (const issue of parsed.error.issues) {
      if (issue.code !== 'invalid_type' || issue.path.length === 0) continue;
      repaired = withChange(repaired, issue.path, (value) => meantBy(value, issue.expected));
    }
  }
  return null;
}

function withChange(value: unknown, [key, ...rest]: PropertyKey[], change: (value: unknown) => unknown): unknown {
  if (key === undefined) return change(value);
  if (Array.isArray(value)) return value.map((item, at) => (at === key ? withChange(item, rest, change) : item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, name === key ? withChange(item, rest, change) : item]),
  );
}

function meantBy(value: unknown, expected: string): unknown {
  if (value === null) return undefined;
  if (expected === 'array' && typeof value === 'object') return [value];
  if (typeof value !== 'string') return value;
  if (expected === 'boolean' && /^(?:true|false)$/i.test(value)) return value.toLowerCase() === 'true';
  if (expected === 'number' && /^-?\d{1,15}$/.test(value)) return Number(value);
  return expected === 'array' || expected === 'object' ? readJson(value) : value;
}

function readJson(text: string): unknown {
  if (createJsonScan(argumentLimits)(Buffer.from(text)) !== null) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
