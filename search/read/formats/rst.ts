import type { FrontMatter } from '../front-matter.ts';
import { admonitionLabel, kindOfDirective } from './rst-directives.ts';
import { inlineOf, nothing, type InlineContext } from './rst-inline.ts';
import {
  anchorOf,
  labelOf,
  labelsIn,
  normalizedLabel,
  rstLines,
  titleAt,
  underline,
  type References,
} from './rst-labels.ts';

const deepest = 30;
const anonymous = /^(?:__|\.\. __:) +(\S.*)$/;
const bullet = /^([-*+•]|(?:#|\d{1,4}|[A-Za-z])[.)]|\((?:#|\d{1,4}|[A-Za-z])\))[ \t]+(?=\S)/;
const field = /^:([^:\s`][^:`]{0,100}):(?:\s+|$)/;
const directive = /^\.\.\s+(?:\|([^|]+)\|\s+)?([\w+.:-]{1,60})::(?:\s+(.*))?$/;

export interface RstSettings {
  substitutions?: ReadonlyMap<string, string>;
  references?: References;
}

/**
 * Reads a reStructuredText page as Markdown, with its first field list as front matter. Directives of Sphinx and its
 * extensions keep their title and text; those that only generate something are left out.
 * `substitutions` are those that all pages share, and `references` finds what is on other pages.
 */
export function readRst(
  source: string,
  { substitutions = new Map(), references = nothing }: RstSettings = {},
): FrontMatter {
  const lines = rstLines(source);
  const context = { ...namesIn(lines, substitutions), references: referencesOf(lines, references) };
  const values: Record<string, unknown> = {};
  const levels: string[] = [];
  /** Anchors of the labels that what comes next has. */
  let labeled: string[] = [];
  const body = blocks(lines, 0);
  return {
    values,
    body: body
      .join('\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim(),
  };

  function blocks(given: string[], depth: number): string[] {
    const out: string[] = [];
    if (depth > deepest) return out;
    let at = 0;
    while (at < given.length) {
      const line = given[at] ?? '';
      const next = given[at + 1] ?? '';
      const isTitle = depth === 0 && titleAt(given, at) !== null;
      if (labeled.length > 0 && line !== '' && labelOf(line) === null && !isTitle) out.push(takeAnchors(), '');
      if (line === '' || anonymous.test(line)) {
        out.push('');
        at += 1;
      } else if (line.startsWith('..') && (line === '..' || line[2] === ' ')) {
        const end = endOfIndented(given, at + 1);
        out.push(...explicit(line, given.slice(at + 1, end), depth));
        at = end;
      } else if (depth === 0 && underline.test(line) && next !== '' && underline.test(given[at + 2] ?? '')) {
        out.push(...title(next.trim(), `${line[0]}over`));
        at += 3;
      } else if (
        depth === 0 &&
        underline.test(next) &&
        next.length >= Math.min(line.length, 3) &&
        !line.startsWith(' ')
      ) {
        out.push(...title(line, next[0] ?? ''));
        at += 2;
      } else if ((underline.test(line) && line !== '::') || /^=+(?: +=+)+$/.test(line) || /^\+[-=+]+\+$/.test(line)) {
        out.push(/^[-_*=]{4,}$/.test(line) && given[at - 1] === '' && next === '' ? '---' : '');
        at += 1;
      } else if (line.startsWith('>>> ')) {
        const blank = given.indexOf('', at);
        const end = blank === -1 ? given.length : blank;
        out.push(...fenced(given.slice(at, end), 'pycon'));
        at = end;
      } else at = paragraph(given, at, { out, depth });
    }
    return out;
  }

  /** Writes a list item, field, definition, quote or paragraph, and returns where the next block starts. */
  function paragraph(given: string[], at: number, { out, depth }: { out: string[]; depth: number }): number {
    const line = given[at] ?? '';
    const indent = indentOf(line);
    if (indent > 0) {
      const end = endOfIndented(given, at);
      out.push(...blocks(dedented(given.slice(at, end)), depth + 1));
      return end;
    }
    const item = bullet.exec(line) ?? field.exec(line);
    if (item !== null) {
      const end = endOfIndented(given, at + 1);
      const inner = [line.slice(item[0].length), ...dedented(given.slice(at + 1, end))];
      if (line.startsWith(':'))
        out.push(...fieldOf(item[1] ?? '', inner, { depth, isFirst: out.every((one) => one === '') }));
      else
        out.push(
          ...indented(blocks(inner, depth + 1), /^[-*+•]/.test(line) ? '- ' : `${/\d+/.exec(item[0])?.[0] ?? 1}. `),
        );
      return end;
    }
    let end = at + 1;
    while (
      end < given.length &&
      given[end] !== '' &&
      indentOf(given[end] ?? '') === 0 &&
      !bullet.test(given[end] ?? '')
    )
      end += 1;
    const text = given
      .slice(at, end)
      .map((each) => each.replace(/^\| ?/, ''))
      .join('\n');
    const isLiteral = text.endsWith('::');
    if (text !== '::') out.push(inlineOf(isLiteral ? text.slice(0, -1).replace(/\s:$/, '') : text, context));
    out.push('');
    if (!isLiteral) return end;
    let block = end;
    while (given[block] === '') block += 1;
    if (indentOf(given[block] ?? '') === 0) return end;
    const close = endOfIndented(given, block);
    out.push(...fenced(dedented(given.slice(block, close)), ''));
    return close;
  }

  function title(text: string, mark: string): string[] {
    if (!levels.includes(mark)) levels.push(mark);
    const last = labeled.pop();
    const anchor = last === undefined ? '' : ` {#${last}}`;
    const marks = '#'.repeat(Math.min(6, levels.indexOf(mark) + 1));
    return ['', `${marks} ${takeAnchors()}${inlineOf(text, context)}${anchor}`, ''];
  }

  function takeAnchors(): string {
    const anchors = labeled.map((id) => `<a id="${id}"></a>`).join('');
    labeled = [];
    return anchors;
  }

  function fieldOf(name: string, inner: string[], { depth, isFirst }: { depth: number; isFirst: boolean }): string[] {
    if (depth === 0 && isFirst && levels.length === 0) {
      values[name.toLowerCase()] = inner.join(' ').trim();
      return [];
    }
    return indented([`\`${name}\`:`, ...blocks(inner, depth + 1)], '- ');
  }

  /** Converts what begins with two dots: a directive, a target, a footnote or a comment. */
  function explicit(line: string, below: string[], depth: number): string[] {
    const label = labelOf(line);
    if (label !== null) {
      if (anchorOf(label) !== '') labeled.push(anchorOf(label));
      return [];
    }
    const note = /^\.\.\s+(\[[^\]\s]+\])\s*(.*)$/.exec(line);
    if (note !== null) return [`${note[1]} ${inlineOf(note[2] ?? '', context)}`, ...blocks(dedented(below), depth + 1)];
    const found = directive.exec(line);
    if (found === null || found[1] !== undefined) return [];
    const [, , name = '', argument = ''] = found;
    return ['', ...directiveOf(name, [argument.trim(), ...dedented(below)], depth), ''];
  }

  function directiveOf(name: string, given: string[], depth: number): string[] {
    const kind = kindOfDirective(name);
    if (kind === 'unshown') return [];
    const blank = given.indexOf('', 1);
    const head = given.slice(0, blank === -1 ? given.length : blank);
    const options = new Map(
      head.flatMap((line, at) => {
        const match = at === 0 ? null : /^:([\w-]+):\s*(.*)$/.exec(line);
        return match === null ? [] : [[match[1] ?? '', match[2] ?? '']];
      }),
    );
    const plain = given.filter((line, at) => at === 0 || at >= head.length || !/^:[\w-]+:(?:\s|$)/.test(line));
    const [argument = '', ...rest] = plain;
    if (kind === 'code') return fenced(rest, argument || (name === 'math' ? 'math' : ''));
    if (kind === 'image') return [options.get('alt') ?? '', '', ...blocks(rest, depth + 1)];
    if (kind === 'admonition') {
      const { label, hasArgument } = admonitionLabel(name, argument);
      return [`**${inlineOf(label, context)}:**`, ...blocks(hasArgument ? rest : [argument, ...rest], depth + 1)];
    }
    if (kind === 'container') return blocks(rest, depth + 1);
    if (kind === 'titled')
      return [argument === '' ? '' : `**${inlineOf(argument, context)}**`, '', ...blocks(rest, depth + 1)];
    return [`\`${argument.replaceAll('`', '')}\``, '', ...blocks(rest, depth + 1)];
  }
}

/** Sections of the page itself come before those of other pages. */
function referencesOf(lines: string[], others: References): References {
  let own: ReturnType<typeof labelsIn> | null = null;
  return {
    section(label) {
      own ??= labelsIn(lines);
      const section = own.sections.get(normalizedLabel(label));
      return section === undefined ? others.section(label) : { title: section.title, link: `#${section.anchor}` };
    },
    document: (name) => others.document(name),
  };
}

function namesIn(lines: string[], known: ReadonlyMap<string, string>): Omit<InlineContext, 'references'> {
  const substitutions = new Map(known);
  const targets = new Map<string, string>();
  const unnamed: string[] = [];
  for (const [at, line] of lines.entries()) {
    // a long address stands on the next line
    const below = /^\s+https?:\S+$/.test(lines[at + 1] ?? '') ? ` ${lines[at + 1]?.trim()}` : '';
    const target = /^\s*\.\.\s+_`?([^`:]+)`?:\s+(\S+)$/.exec(line + below);
    if (target !== null) targets.set(normalizedLabel(target[1] ?? ''), target[2] ?? '');
    const address = anonymous.exec(line + below)?.[1];
    if (address !== undefined) unnamed.push(address);
    const found = directive.exec(line);
    if (found?.[1] !== undefined && found[2] === 'replace') substitutions.set(found[1], (found[3] ?? '').trim());
  }
  return { substitutions, targets, anonymous: unnamed };
}

/** Returns the number of leading blanks, without other white space, which indents nothing. */
function indentOf(line: string): number {
  return /^ */.exec(line)?.[0].length ?? 0;
}

/** Returns where the indented or blank lines from `from` on end; blank lines at their end are not part of them. */
function endOfIndented(lines: string[], from: number): number {
  let end = from;
  for (let at = from; at < lines.length && (lines[at] === '' || lines[at]?.startsWith(' ')); at += 1)
    if (lines[at] !== '') end = at + 1;
  return end;
}

function dedented(lines: string[]): string[] {
  const least = Math.min(...lines.filter((line) => line !== '').map(indentOf));
  return lines.map((line) => line.slice(least));
}

function indented(lines: string[], mark: string): string[] {
  const pad = ' '.repeat(mark.length);
  const all = lines.flatMap((line) => line.split('\n'));
  const start = all.findIndex((line) => line !== '');
  return all.slice(Math.max(0, start)).map((line, at) => (at === 0 ? mark + line : line === '' ? '' : pad + line));
}

function fenced(lines: string[], language: string): string[] {
  const start = lines.findIndex((line) => line !== '');
  if (start === -1) return [];
  const fence = lines.some((line) => line.includes('```')) ? '~~~~' : '```';
  return ['', `${fence}${language}`, ...lines.slice(start), fence, ''];
}
