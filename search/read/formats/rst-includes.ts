import { posix } from 'node:path';
import type { IncludeSyntax } from './includes.ts';
import { codeBlock, dedented, indentedLike, inRanges, widthOf } from './selection.ts';

const option = /^[ \t]*:([\w-]+):[ \t]*(.*)$/gm;

/**
 * `include` and `literalinclude`; what is code, or is included as it is written, becomes a code block. A target with a
 * leading slash is below `top`, the folder of the configuration.
 */
export function rstIncludes(top = ''): IncludeSyntax {
  return {
    pattern:
      /^(?<indent>[ \t]*)\.\. (?<name>include|literalinclude):: +(?<target>\S{1,500})$(?<options>(?:\n[ \t]+:[\w-]+:.*$)*)/gm,
    resolve: (target, from) => pathsOf(target, from, top),
    isCode,
    adapt(text, { groups = {} }) {
      const options = optionsOf(groups);
      if (!isShownAsCode(groups)) return partOf(text, options);
      const { indent = '' } = groups;
      const lines = codeOf(text, groups, options).map((line) => `${indent}   ${line}`);
      return lines.length === 0
        ? ''
        : [`${indent}.. code-block:: ${languageOf(groups, options)}`, '', ...lines, ''].join('\n');
    },
  };
}

/** The same as directives of MyST, in fences of backticks or colons. */
export function mystIncludes(top: string): IncludeSyntax {
  return {
    pattern:
      /^(?<indent>[ \t]*)(?<fence>`{3,}|:{3,}|~{3,})\{(?<name>include|literalinclude)\}[ \t]+(?<target>\S{1,500})[ \t]*$(?<options>(?:\n[ \t]*:[\w-]+:.*$)*)(?:\n[ \t]*$)*\n[ \t]*\k<fence>[ \t]*$/gm,
    resolve: (target, from) => pathsOf(target, from, top),
    isCode,
    adapt(text, { groups = {} }) {
      const options = optionsOf(groups);
      const shown = isShownAsCode(groups)
        ? codeBlock(codeOf(text, groups, options), languageOf(groups, options))
        : partOf(text, options);
      return indentedLike(shown, groups.indent);
    },
  };
}

type Groups = Partial<Record<string, string>>;
type Options = ReadonlyMap<string, string>;

function isCode({ groups = {} }: RegExpExecArray): boolean {
  return isShownAsCode(groups);
}

function isShownAsCode({ name, options = '' }: Groups): boolean {
  return name === 'literalinclude' || /^[ \t]*:(?:code|literal):/m.test(options);
}

function optionsOf({ options = '' }: Groups): Options {
  return new Map([...options.matchAll(option)].map(([, key = '', value = '']) => [key, value.trim()]));
}

function languageOf({ target = '' }: Groups, options: Options): string {
  return options.get('language') ?? options.get('code') ?? posix.extname(target).slice(1);
}

/** Returns the lines of the code that a directive shows; none if what it names is not there. */
function codeOf(text: string, { name }: Groups, options: Options): string[] {
  const lines = name === 'include' ? partOf(text, options).split(/\r?\n/) : linesOf(text.split(/\r?\n/), options);
  if (lines === null || lines.every((line) => line.trim() === '')) return [];
  return options.has('dedent') ? dedented(lines) : lines;
}

function pathsOf(target: string, from: string, top: string): string[] {
  const path = target.startsWith('/') ? posix.join(top, target.slice(1)) : posix.join(posix.dirname(from), target);
  return [posix.normalize(path)];
}

/** Returns the text between the texts that an `include` names. */
function partOf(text: string, options: Options): string {
  const after = options.get('start-after') ?? '';
  const before = options.get('end-before') ?? '';
  const start = after === '' ? 0 : text.indexOf(after);
  const rest = start === -1 ? '' : text.slice(start + after.length);
  const end = before === '' ? rest.length : rest.indexOf(before);
  return end === -1 ? rest : rest.slice(0, end);
}

/** Returns the lines that a `literalinclude` selects; null if what it names is not there. */
function linesOf(all: string[], options: Options): string[] | null {
  const object = options.get('pyobject');
  let lines: string[] | null = object === undefined ? all : objectIn(all, object);
  const start = options.get('start-at') ?? options.get('start-after');
  if (start !== undefined && lines !== null) {
    const at = lines.findIndex((line) => line.includes(start));
    lines = at === -1 ? null : lines.slice(options.has('start-at') ? at : at + 1);
  }
  const end = options.get('end-at') ?? options.get('end-before');
  if (end !== undefined && lines !== null) {
    const at = lines.findIndex((line, index) => line.includes(end) && (index > 0 || options.has('end-at')));
    lines = at === -1 ? null : lines.slice(0, options.has('end-at') ? at + 1 : at);
  }
  const ranges = options.get('lines');
  return ranges === undefined || lines === null ? lines : inRanges(lines, ranges);
}

/** Returns a class or function of Python, `Class.method` too, with its decorators. */
function objectIn(lines: string[], name: string): string[] | null {
  let inner = lines;
  for (const part of name.split('.')) {
    if (!/^\w+$/.test(part)) return null;
    const head = new RegExp(String.raw`^\s*(?:async\s+def|def|class)\s+${part}\b`);
    const at = inner.findIndex((line) => head.test(line));
    if (at === -1) return null;
    const indent = widthOf(inner[at] ?? '');
    let start = at;
    while (/^\s*@/.test(inner[start - 1] ?? '') && widthOf(inner[start - 1] ?? '') === indent) start -= 1;
    const below = inner.findIndex((line, index) => index > at && /^\s*[^\s)\]}]/.test(line) && widthOf(line) <= indent);
    inner = inner.slice(start, below === -1 ? inner.length : below);
  }
  while (inner.at(-1)?.trim() === '') inner = inner.slice(0, -1);
  return inner;
}
