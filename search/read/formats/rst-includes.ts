import { posix } from 'node:path';
import type { IncludeSyntax } from './includes.ts';

const option = /^[ \t]+:([\w-]+):[ \t]*(.*)$/gm;
const mostRanges = 100;

/** `include` and `literalinclude`; what is code, or is included as it is written, becomes a code block. */
export const rstIncludes: IncludeSyntax = {
  pattern:
    /^(?<indent>[ \t]*)\.\. (?<name>include|literalinclude):: +(?<target>\S{1,500})$(?<options>(?:\n[ \t]+:[\w-]+:.*$)*)/gm,
  resolve: fromTop,
  isCode: ({ groups }) => groups?.name === 'literalinclude' || /^[ \t]+:(?:code|literal):/m.test(groups?.options ?? ''),
  adapt(text, { groups = {} }) {
    const { indent = '', name = '', target = '', options: written = '' } = groups;
    const options = new Map([...written.matchAll(option)].map(([, key = '', value = '']) => [key, value.trim()]));
    if (name === 'include' && !options.has('code') && !options.has('literal')) return partOf(text, options);
    const lines = name === 'include' ? partOf(text, options).split(/\r?\n/) : linesOf(text.split(/\r?\n/), options);
    if (lines === null || lines.every((line) => line.trim() === '')) return '';
    const language = options.get('language') ?? options.get('code') ?? posix.extname(target).slice(1);
    const code = withoutIndent(lines, options.has('dedent')).map((line) => `${indent}   ${line}`);
    return [`${indent}.. code-block:: ${language}`, '', ...code, ''].join('\n');
  },
};

/** Sphinx takes a leading slash for the folder of its configuration. */
function fromTop(target: string, from: string): string {
  return posix.normalize(target.startsWith('/') ? target.slice(1) : posix.join(posix.dirname(from), target));
}

/** Returns the text between the texts that an `include` names. */
function partOf(text: string, options: ReadonlyMap<string, string>): string {
  const after = options.get('start-after') ?? '';
  const before = options.get('end-before') ?? '';
  const start = after === '' ? 0 : text.indexOf(after);
  const rest = start === -1 ? '' : text.slice(start + after.length);
  const end = before === '' ? rest.length : rest.indexOf(before);
  return end === -1 ? rest : rest.slice(0, end);
}

/** Returns the lines that a `literalinclude` selects; null if what it names is not there. */
function linesOf(all: string[], options: ReadonlyMap<string, string>): string[] | null {
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

/** Selects lines by numbers, such as `1-3, 7, 10-`. */
function inRanges(lines: string[], ranges: string): string[] {
  return ranges
    .split(',')
    .slice(0, mostRanges)
    .flatMap((range) => {
      const [, first = '', dash = '', last = ''] = /^\s*(\d*)\s*(-?)\s*(\d*)\s*$/.exec(range) ?? [];
      if (first === '' && last === '') return [];
      const from = Math.max(0, Number(first) - 1);
      return lines.slice(from, dash === '' ? from + 1 : last === '' ? lines.length : Number(last));
    });
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

function withoutIndent(lines: string[], isDedented: boolean): string[] {
  if (!isDedented) return lines;
  const least = Math.min(...lines.filter((line) => line.trim() !== '').map(widthOf));
  return lines.map((line) => line.slice(least));
}

function widthOf(line: string): number {
  return line.length - line.trimStart().length;
}
