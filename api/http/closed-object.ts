import { z } from 'zod';

/** Returns a strict body schema. The error for an unknown field suggests the most similar known one. */
export function closedBody<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, { error: (issue) => unknownName(issue, 'field') });
}

/** Returns a strict schema of query parameters, with the same suggestions. */
export function closedQuery<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, { error: (issue) => unknownName(issue, 'query parameter') });
}

const maxNameLength = 64;

function unknownName({ code, keys, path, inst }: z.core.$ZodRawIssue, noun: string): string | undefined {
  if (code !== 'unrecognized_keys' || !Array.isArray(keys) || !(inst instanceof z.ZodObject)) return undefined;
  const name = String(keys[0]);
  const known = Object.keys(inst.shape);
  const nearest = nearestOf(name, known);
  const remedy = nearest === null ? `It takes ${known.map(quoted).join(', ')}.` : `Did you mean ${quoted(nearest)}?`;
  // never repeat a name that could be a pasted key: every kind of key contains digits
  const shown = /^[a-z_.-]+$/i.test(name) && name.length <= maxNameLength ? ` ${quoted(name)}` : '';
  const place = path === undefined || path.length === 0 ? '' : ` in ${quoted(path.map(String).join('.'))}`;
  return `Unknown ${noun}${shown}${place}. ${remedy}`;
}

function quoted(name: string): string {
  return `\`${name}\``;
}

/** Returns the most similar known name: few letters differ, or one is a prefix of the other. */
function nearestOf(name: string, known: readonly string[]): string | null {
  const given = folded(name.slice(0, maxNameLength));
  let nearest: { name: string; distance: number } | null = null;
  for (const candidate of known) {
    const wanted = folded(candidate);
    const isBeginning = given.length >= 3 && (wanted.startsWith(given) || given.startsWith(wanted));
    const distance = isBeginning ? 1 : editDistance(given, wanted);
    if (distance > Math.max(1, wanted.length / 3) || distance >= (nearest?.distance ?? Infinity)) continue;
    nearest = { name: candidate, distance };
  }
  return nearest?.name ?? null;
}

function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

/** Returns the number of letters to insert, delete, replace or swap with their neighbor. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let at = 1; at <= a.length; at += 1) {
    const row = [at];
    for (let column = 1; column <= b.length; column += 1) {
      const changed = (rows[at - 1]?.[column - 1] ?? 0) + (a[at - 1] === b[column - 1] ? 0 : 1);
      const added = Math.min((rows[at - 1]?.[column] ?? 0) + 1, (row[column - 1] ?? 0) + 1);
      const isSwap = a[at - 1] === b[column - 2] && a[at - 2] === b[column - 1];
      const swapped = isSwap ? (rows[at - 2]?.[column - 2] ?? Infinity) + 1 : Infinity;
      row.push(Math.min(changed, added, swapped));
    }
    rows.push(row);
  }
  return rows.at(-1)?.at(-1) ?? 0;
}
