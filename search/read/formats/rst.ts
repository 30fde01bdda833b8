import { slugOf } from '../anchors.ts';
import type { FrontMatter } from '../front-matter.ts';
import { headingText } from '../markdown-lines.ts';
import { admonitionLabel, generatedBy, kindOfDirective } from './rst-directives.ts';
import { inlineOf, nothing } from './rst-inline.ts';
import { anonymous, directive, namesIn } from './rst-names.ts';
import { idOf, isUnindexed, objectOf, type ObjectScope } from './rst-objects.ts';
import { dedented, endOfIndented, fenced, indented, indentOf } from './rst-lines.ts';
import {
  anchorOf,
  anchorTag,
  createIds,
  labelOf,
  rstLines,
  titleAt,
  underline,
  withTitles,
  type References,
} from './rst-labels.ts';

const maxDepth = 30;
const bullet = /^([-*+•]|(?:#|\d{1,4}|[A-Za-z])[.)]|\((?:#|\d{1,4}|[A-Za-z])\))[ \t]+(?=\S)/;
const field = /^:([^:\s`][^:`]{0,100}):(?:\s+|$)/;

export interface RstSettings {
  substitutions?: ReadonlyMap<string, string>;
  references?: References;
  /** Translates a text as it is written in the source; null for one without a translation. */
  translate?: (text: string) => string | null;
}

/**
 * Reads a reStructuredText page as Markdown, with its first field list as front matter. Directives of Sphinx and its
 * extensions keep their title and text; those that only generate something are left out.
 * `substitutions` are those that all pages share, and `references` finds what is on other pages.
 */
export function readRst(
  source: string,
  { substitutions = new Map(), references = nothing, translate = () => null }: RstSettings = {},
): FrontMatter {
  const lines = rstLines(source);
  const names = namesIn(lines, substitutions, references);
  const context = { ...names, references: withTitles(names.references, translate) };
  const translated = (text: string) => translate(text) ?? text;
  const values: Record<string, unknown> = {};
  const levels: string[] = [];
  const ids = createIds();
  const scope: ObjectScope = { module: '', around: '', program: '' };
  /** Anchors of the labels for the next block. */
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
    if (depth > maxDepth) return out;
    let at = 0;
    while (at < given.length) {
      const line = given[at] ?? '';
      const next = given[at + 1] ?? '';
      const isTitle = depth === 0 && titleAt(given, at) !== null;
      if (labeled.length > 0 && line !== '' && labelOf(line, next) === null && !isTitle) out.push(takeAnchors(), '');
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
    const written = given.slice(at, end);
    const unmarked = written.map((each) => each.replace(/^\| ?/, ''));
    const text = line.startsWith('|') ? unmarked.map(translated).join('\n') : translated(unmarked.join('\n'));
    const isLiteral = written.at(-1)?.endsWith('::') === true;
    if (text !== '::') out.push(inlineOf(text.endsWith('::') ? text.slice(0, -1).replace(/\s:$/, '') : text, context));
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
    const shown = inlineOf(translated(text), context);
    // a translated title keeps its id
    const own = ids.take(headingText(`# ${translate(text) === null ? shown : inlineOf(text, context)}`));
    const id = labeled.pop() ?? own;
    const anchor = id === slugOf(headingText(`# ${shown}`)) ? '' : ` {#${id}}`;
    const marks = '#'.repeat(Math.min(6, levels.indexOf(mark) + 1));
    return ['', `${marks} ${takeAnchors()}${shown}${anchor}`, ''];
  }

  function takeAnchors(): string {
    const anchors = labeled.map(anchorTag).join('');
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

  /** Converts a block that starts with two dots: a directive, a target, a footnote or a comment. */
  function explicit(line: string, below: string[], depth: number): string[] {
    const label = labelOf(line, below[0]);
    if (label !== null) {
      labeled.push(ids.take(label));
      return [];
    }
    const target = /^\.\. _`?([^`:]+)`?:(?: |$)/.exec(line)?.[1];
    if (target !== undefined) ids.take(target);
    const note = /^\.\.\s+(\[[^\]\s]+\])\s*(.*)$/s.exec(line);
    if (note !== null) return [`${note[1]} ${inlineOf(note[2] ?? '', context)}`, ...blocks(dedented(below), depth + 1)];
    const found = directive.exec(line);
    if (found === null || found[1] !== undefined) return [];
    const [, , name = '', argument = ''] = found;
    return ['', ...directiveOf(name, [argument.trim(), ...dedented(below)], depth), ''];
  }

  function directiveOf(name: string, given: string[], depth: number): string[] {
    const kind = kindOfDirective(name);
    const blank = given.indexOf('', 1);
    if (kind === 'unshown') {
      const described = blank === -1 ? undefined : generatedBy(name);
      if (described === undefined) return [];
      return inside(described, given[0] ?? '', () => blocks(given.slice(blank), depth + 1));
    }
    const head = given.slice(0, blank === -1 ? given.length : blank);
    const options = new Map(
      head.flatMap((line, at) => {
        const match = at === 0 ? null : /^:([\w-]+):\s*(.*)$/s.exec(line);
        return match === null ? [] : [[match[1] ?? '', match[2] ?? '']];
      }),
    );
    const isOption = (line: string, at: number) => at > 0 && at < head.length && /^:[\w-]+:(?:\s|$)/.test(line);
    const [argument = '', ...rest] = given.filter((line, at) => !isOption(line, at));
    if (kind === 'scope') return scopeOf(name, argument, options);
    const anchor = anchorOf(options.get('name') ?? '');
    const target = anchor === '' ? [] : [anchorTag(anchor), ''];
    if (kind === 'code') return [...target, ...fenced(rest, argument || (name === 'math' ? 'math' : ''))];
    if (kind === 'image') return [...target, translated(options.get('alt') ?? ''), '', ...blocks(rest, depth + 1)];
    if (kind === 'admonition') {
      const { label, hasArgument } = admonitionLabel(name, argument);
      const text = hasArgument ? rest : [argument, ...rest];
      return [...target, `**${inlineOf(translated(label), context)}:**`, ...blocks(text, depth + 1)];
    }
    if (name === 'glossary') return glossaryOf([argument, ...rest], depth);
    // docutils has a directive of the same name for classes of CSS
    const isStyle = name === 'class' && /^[a-z\d]+(?:[- ][a-z\d]+)+$/.test(argument);
    if (kind === 'container' || isStyle) return [...target, ...blocks(rest, depth + 1)];
    if (kind === 'titled')
      return [
        ...target,
        argument === '' ? '' : `**${inlineOf(translated(argument), context)}**`,
        '',
        ...blocks(rest, depth + 1),
      ];
    const end = rest.findIndex((line) => line === '');
    const signatures = [argument, ...rest.slice(0, end === -1 ? rest.length : end)].map((line) => line.trim());
    return [
      ...target,
      ...object(name, { signatures, options }),
      ...inside(name, signatures[0] ?? '', () => blocks(rest.slice(signatures.length - 1), depth + 1)),
    ];
  }

  /** Remembers the module or program of the descriptions that follow. */
  function scopeOf(name: string, argument: string, options: ReadonlyMap<string, string>): string[] {
    if (name === 'program') {
      scope.program = argument === 'None' ? '' : argument.replaceAll(/\s+/g, '-');
      return [];
    }
    scope.module = argument === 'None' ? '' : argument;
    return name.includes('current') || isUnindexed(options) ? [] : [anchorTag(idOf('module', argument)), ''];
  }

  function object(
    name: string,
    { signatures, options }: { signatures: string[]; options: ReadonlyMap<string, string> },
  ): string[] {
    const within = { ...scope, module: options.get('module') ?? scope.module };
    return signatures.flatMap((signature) => {
      const anchors = !isUnindexed(options) ? objectOf(name, signature, within).ids.map(anchorTag).join('') : '';
      return [`${anchors}\`${signature.replaceAll('`', '')}\``, ''];
    });
  }

  /** Converts the body of an object's description. */
  function inside(name: string, signature: string, convert: () => string[]): string[] {
    const { around } = scope;
    if (/(?:^|:)(?:class|exception|directive|struct|enum|union)$/.test(name))
      scope.around = objectOf(name, signature, scope).name;
    const shown = convert();
    scope.around = around;
    return shown;
  }

  function glossaryOf(lines: string[], depth: number): string[] {
    const out: string[] = [];
    for (let at = 0; at < lines.length; at += 1) {
      const line = lines[at] ?? '';
      if (line.startsWith(' ')) {
        const end = endOfIndented(lines, at);
        out.push('', ...blocks(dedented(lines.slice(at, end)), depth + 1), '');
        at = end - 1;
      } else if (line !== '' && !line.startsWith('..')) {
        const term = line.split(' : ', 1)[0] ?? '';
        const id = idOf('term', headingText(inlineOf(term, context)));
        out.push(`${anchorTag(id)}${inlineOf(translated(term), context)}`);
      }
    }
    return out;
  }
}
