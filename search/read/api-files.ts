import { posix } from 'node:path';
import { isRecord, parseYaml } from './front-matter.ts';

/** Key under which the other files are in the value of a description. */
const otherFiles = 'x-docket-files';
const isFile = /\.(?:json|ya?ml)$/i;

/**
 * Parses the file of an API description; undefined when it is malformed. The files that it refers to (`user.yaml#/User`)
 * become part of the value, and references to them lead there.
 */
export function parseApi(path: string, textOf: (path: string) => string | undefined): unknown {
  const api = valueOf(textOf(path));
  if (!isRecord(api)) return api;
  const others = new Map<string, unknown>();
  const pending: [path: string, value: unknown][] = [[path, api]];
  for (const [from, value] of pending) {
    for (const record of recordsIn(value)) {
      const { $ref: reference } = record;
      if (typeof reference !== 'string' || /^[a-z][\w+.-]*:/i.test(reference)) continue;
      const [file = '', pointer = ''] = reference.split('#', 2);
      const target = file === '' ? from : posix.join(posix.dirname(from), file);
      if (target !== path && !others.has(target)) {
        const other = isFile.test(target) ? valueOf(textOf(target)) : undefined;
        others.set(target, other);
        pending.push([target, other]);
      }
      const place = target === path ? '' : `/${otherFiles}/${target.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      record.$ref = `#${place}${pointer}`;
    }
  }
  return others.size === 0 ? api : { ...api, [otherFiles]: Object.fromEntries(others) };
}

function valueOf(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  if (!/^\s*\{/.test(text.slice(0, 200))) return parseYaml(text);
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Yields each object in a value once: YAML aliases are references to the same object. */
function* recordsIn(value: unknown): Generator<Record<string, unknown>> {
  const pending = [value];
  const seen = new Set<unknown>();
  while (pending.length > 0) {
    const next = pending.pop();
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    if (isRecord(next)) yield next;
    for (const child of Object.values(next)) pending.push(child);
  }
}
