import { isRecord } from '../front-matter.ts';

/** Key of a record with entries that are computed. */
export const unreadSpread = '...';
const maxDepth = 20;
const maxValues = 20_000;
const maxNames = 50;
/** Occurrences of a name that are searched for its value. */
const maxPlaces = 20;
/** White space and comments. */
const blank = /(?:\s|\/\/[^\n]*|\/\*[^]{0,5000}?\*\/)*/y;
const quoted = /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\$]|\\.|\$(?!\{))*)`/y;
const word = /[A-Za-z_$][\w$]*/y;
const number = /-?\d[\d_]*(?:\.\d+)?/y;
/** A suffix that leaves a value as it is, such as `as const`. */
const assertion = /(?:as|satisfies)\b(?:\[[^\]\n]*\]|[^,;\]})[])*/y;
const emptyCall = /\(\s*\)/y;
const constants = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/**
 * Returns the value of a setting or constant of a JavaScript or TypeScript file without running it: literals, constants of
 * the same file, and functions without arguments that only return a value. What is computed is undefined, also in a list.
 */
export function scriptValueOf(text: string, name: string): unknown {
  return createReader(text).named(name, 0);
}

/** Returns the value that a JavaScript or TypeScript file exports by default, in the same way. */
export function exportedValueOf(text: string): unknown {
  const { valueAt } = createReader(text);
  let places = maxPlaces;
  for (const found of text.matchAll(/^[ \t]*(?:module\.exports\s*=|export\s+default\b)/gm)) {
    if (places-- === 0) break;
    const { value } = valueAt(found.index + found[0].length, 0);
    if (value !== undefined) return value;
  }
  return undefined;
}

function createReader(text: string) {
  const names = new Map<string, { value: unknown; size: number }>();
  let left = maxValues;
  return { named, valueAt };

  function named(name: string, depth: number): unknown {
    const known = names.get(name);
    if (known !== undefined || names.size >= maxNames) {
      // a value counts once for each use, because the result contains it that often
      left -= known?.size ?? 0;
      return left < 0 ? undefined : known?.value;
    }
    names.set(name, { value: undefined, size: 0 });
    const before = left;
    const written = name.replaceAll('$', String.raw`\$&`);
    const start = new RegExp(
      String.raw`(?:^|[\s{,])(?:const\s+${written}\s*(?::[^=]{1,200})?=|function\s+${written}\s*\(\s*\)\s*(?::[^{]{1,200})?\{\s*return\b|["']?${written}["']?\s*:)`,
      'g',
    );
    let places = maxPlaces;
    for (const found of text.matchAll(start)) {
      if (places-- === 0) break;
      const { value } = valueAt(found.index + found[0].length, depth + 1);
      names.set(name, { value, size: before - left });
      if (value !== undefined) return value;
    }
    return undefined;
  }

  function valueAt(from: number, depth: number): { value: unknown; end: number } {
    const start = skip(blank, from);
    const { value, end } = primaryAt(start, depth);
    const after = skip(blank, skip(assertion, skip(blank, end)));
    const isNextLine = /\n/.test(text.slice(end, after)) && /[\w$@]/.test(text[after] ?? '');
    return isNextLine || /^[,;\]})]?$/.test(text[after] ?? '')
      ? { value, end: after }
      : { value: undefined, end: endOfValue(after) };
  }

  function primaryAt(at: number, depth: number): { value: unknown; end: number } {
    left -= 1;
    if (depth > maxDepth || left < 0) return { value: undefined, end: endOfValue(at) };
    if (text[at] === '[') return listAt(at + 1, depth);
    if (text[at] === '{') return recordAt(at + 1, depth);
    const string = match(quoted, at);
    if (string !== null) {
      const value = (string[1] ?? string[2] ?? string[3] ?? '').replaceAll(/\\(.)/g, '$1');
      return { value, end: at + string[0].length };
    }
    const digits = match(number, at)?.[0];
    if (digits !== undefined) return { value: Number(digits.replaceAll('_', '')), end: at + digits.length };
    const name = match(word, at)?.[0];
    if (name === undefined) return { value: undefined, end: endOfValue(at) };
    const value = constants.has(name) ? constants.get(name) : named(name, depth);
    return { value, end: skip(emptyCall, at + name.length) };
  }

  function listAt(from: number, depth: number): { value: unknown[]; end: number } {
    const value: unknown[] = [];
    let at = skip(blank, from);
    while (at < text.length && text[at] !== ']') {
      const isSpread = text.startsWith('...', at);
      const entry = valueAt(isSpread ? at + 3 : at, depth + 1);
      if (isSpread && Array.isArray(entry.value)) value.push(...entry.value);
      else value.push(isSpread ? undefined : entry.value);
      const end = next(entry.end);
      if (end === at) break;
      at = end;
    }
    return { value, end: at + 1 };
  }

  function recordAt(from: number, depth: number): { value: Record<string, unknown>; end: number } {
    const value: Record<string, unknown> = {};
    let at = skip(blank, from);
    while (at < text.length && text[at] !== '}') {
      const string = match(quoted, at);
      const key = string === null ? match(word, at)?.[0] : (string[1] ?? string[2]);
      const colon = skip(blank, at + (string?.[0].length ?? key?.length ?? 0));
      let end: number;
      if (text.startsWith('...', at)) {
        const entry = valueAt(at + 3, depth + 1);
        Object.assign(value, isRecord(entry.value) ? entry.value : { [unreadSpread]: undefined });
        ({ end } = entry);
      } else if (key !== undefined && text[colon] === ':') {
        const entry = valueAt(colon + 1, depth + 1);
        value[key] = entry.value;
        ({ end } = entry);
      } else {
        // only an identifier may stand alone; other text would be read as a pattern
        if (string === null && key !== undefined && /[,}]/.test(text[colon] ?? '')) value[key] = named(key, depth + 1);
        end = endOfValue(at);
      }
      if (next(end) === at) break;
      at = next(end);
    }
    return { value, end: at + 1 };
  }

  /** Skips the comma after an entry. */
  function next(at: number): number {
    return skip(blank, text[at] === ',' ? at + 1 : at);
  }

  /** Returns the end of a value that is computed: the next comma or bracket that is not inside of it. */
  function endOfValue(from: number): number {
    let depth = 0;
    for (let at = from; at < text.length; at += 1) {
      const character = text[at] ?? '';
      if (depth === 0 && /[,;\]})]/.test(character)) return at;
      if (/[[{(]/.test(character)) depth += 1;
      else if (/[\]})]/.test(character)) depth -= 1;
      else if (/["'`]/.test(character)) at = Math.max(at, skip(quoted, at) - 1);
      else if (character === '/') at = Math.max(at, skip(blank, at) - 1);
    }
    return text.length;
  }

  function match(pattern: RegExp, at: number): RegExpExecArray | null {
    pattern.lastIndex = at;
    return pattern.exec(text);
  }

  function skip(pattern: RegExp, at: number): number {
    return at + (match(pattern, at)?.[0].length ?? 0);
  }
}
