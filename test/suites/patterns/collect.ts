import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync, Visitor } from 'vite';

/** A regular expression of the product. */
export interface Pattern {
  source: string;
  flags: string;
  /** File and line. */
  at: string;
}

/** The position in its file, as stack traces have it. */
const place = (file: string, text: string, start: number) => {
  const before = text.slice(0, start).split('\n');
  return { file, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
};

/** Stands for a value that only a run knows: as a text, and as the count of a repetition. */
const unknownValue = '3';

interface Expressions {
  literals: Pattern[];
  /** Calls of the constructor, with the pattern as far as the call spells it out. */
  calls: (Pattern & { column: number })[];
}

/** Returns the regular expressions that a file spells out. */
export function expressionsOf(file: string, text: string): Expressions {
  const found: Expressions = { literals: [], calls: [] };
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  new Visitor({
    Literal(node) {
      if ('regex' in node) {
        const { pattern: source, flags } = node.regex;
        found.literals.push({ source, flags, at: `${file}:${place(file, text, node.start).line}` });
      }
    },
    NewExpression: (node) => call(node),
    CallExpression: (node) => call(node),
  }).visit(program);
  return found;

  function call({ callee, arguments: [given, flags], start }: any) {
    if (callee.type !== 'Identifier' || callee.name !== 'RegExp') return;
    const { line, column } = place(file, text, start);
    found.calls.push({ source: textOf(given), flags: flags?.value ?? '', at: `${file}:${line}`, column });
  }
}

function textOf(node: any): string {
  switch (node?.type) {
    case 'Literal':
      return node.regex?.pattern ?? String(node.value);
    case 'TemplateLiteral':
      return joined(node, 'cooked');
    case 'TaggedTemplateExpression':
      return joined(node.quasi, 'raw');
    case 'BinaryExpression':
      return textOf(node.left) + textOf(node.right);
    default:
      return unknownValue;
  }
}

function joined({ quasis, expressions }: any, form: 'cooked' | 'raw'): string {
  return quasis
    .map(({ value }: any, at: number) => value[form] + (at < expressions.length ? textOf(expressions[at]) : ''))
    .join('');
}

/** Returns the regular expressions that modules construct while they load. */
async function constructedBy(checkout: string, files: string[]): Promise<(Pattern & { column: number })[]> {
  const found: (Pattern & { column: number })[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct(target, given: [pattern: string | RegExp, flags?: string], newTarget) {
      const made = Reflect.construct(target, given, newTarget);
      const caller = /file:\/\/(\/\S+):(\d+):(\d+)/.exec(new Error('place').stack?.split('\n')[2] ?? '');
      const file = caller?.[1]?.slice(checkout.length + 1) ?? '';
      if (files.includes(file))
        found.push({
          source: made.source,
          flags: made.flags,
          at: `${file}:${caller?.[2]}`,
          column: Number(caller?.[3]),
        });
      return made;
    },
  });
  try {
    for (const file of files) await import(pathToFileURL(join(checkout, file)).href);
  } finally {
    globalThis.RegExp = original;
  }
  return found;
}

/** Returns the regular expressions of the product. RE2's are not among them: they take linear time whatever they are. */
export async function collectPatterns(): Promise<Pattern[]> {
  const checkout = resolve(import.meta.dirname, '../../..');
  const files = globSync('**/*.{ts,tsx,cjs}', {
    cwd: checkout,
    exclude: ['node_modules', 'test', '**/dist', '*.config.ts'],
  }).toSorted();
  const all = files.map((file) => expressionsOf(file, readFileSync(join(checkout, file), 'utf8')));
  const calls = all.flatMap((expressions) => expressions.calls);
  const constructed = await constructedBy(
    checkout,
    [...new Set(calls.map(({ at }) => at.replace(/:\d+$/, '')))].filter((file) => file.endsWith('.ts')),
  );
  const isConstructed = new Set(constructed.map(({ at, column }) => `${at}:${column}`));
  return [
    ...all.flatMap(({ literals }) => literals),
    ...constructed,
    ...calls.filter(({ at, column }) => !isConstructed.has(`${at}:${column}`)),
  ];
}
