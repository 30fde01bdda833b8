import { decodeAttribute, decodeOutsideTags, decodeReferences } from './character-references.ts';
import { labelOf } from './layouts/markup.ts';
import { linesOf } from './markdown-lines.ts';
import { createMdxWriter } from './mdx-writer.ts';

type Writer = ReturnType<typeof createMdxWriter>;

const namedAttributes = [
  'title',
  'label',
  'header',
  'heading',
  'caption',
  'summary',
  'name',
  'tip',
  'alt',
  'description',
];
const parameterAttributes = ['path', 'query', 'body', 'header'];
/** Components of Mintlify, and those of Starlight, Docusaurus and others whose type is an attribute. */
const admonition = /^(?:Note|Warning|Tip|Info|Check|Danger|Caution|Important)$/;
const typedAdmonition = /^(?:Aside|Admonition|Callout)$/;
const moduleLine = /^(?:import\s+(?:[\w*{$"'])|export\s+(?:default|const|let|function|async|class|\{|\*))/;
const voidTag = /^(?:area|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
const listItem = /^ {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]/;
const maxTagLength = 10_000;
const maxModuleLength = 400;

/**
 * Converts MDX to Markdown: imports, exports and tags are removed with their indentation; their text and titles stay;
 * character references are decoded; code is unchanged.
 */
export function mdxToMarkdown(source: string): string {
  const writer = createMdxWriter();
  const budget = { left: source.length * 4 + 100_000 };
  let prose = '';
  let moduleLines = 0;
  let depth = 0;
  const flush = () => {
    writeProse(prose, writer, budget);
    prose = '';
  };
  for (const line of linesOf(source)) {
    const text = source.slice(line.start, line.end);
    if (line.kind === 'code' || line.kind === 'fence') {
      flush();
      writer.code(text, line.kind === 'fence');
      moduleLines = 0;
      continue;
    }
    const startsModule = moduleLines === 0 && line.kind === 'text' && moduleLine.test(text.slice(0, 100));
    if (startsModule) depth = 0;
    if (startsModule || (moduleLines > 0 && moduleLines < maxModuleLength && (depth > 0 || line.kind !== 'blank'))) {
      depth += bracketsOf(text);
      moduleLines++;
      continue;
    }
    moduleLines = 0;
    prose += `${text}\n`;
  }
  flush();
  return writer.end();
}

/** Removes HTML comments and decodes character references outside code; a plain Markdown file keeps its tags. */
export function plainMarkdown(source: string): string {
  if (!source.includes('<!--') && !source.includes('&')) return source;
  const parts: string[] = [];
  let prose = '';
  let isAfterBlank = true;
  let isInList = false;
  for (const line of linesOf(source)) {
    const text = `${source.slice(line.start, line.end)}\n`;
    if (/^\S/.test(text) && isAfterBlank) isInList = false;
    if (listItem.test(text)) isInList = true;
    const isIndentedCode = isAfterBlank && !isInList && /^(?: {4}|\t)/.test(text);
    if (line.kind !== 'code' && line.kind !== 'fence' && !isIndentedCode) {
      prose += text;
      isAfterBlank = line.kind !== 'text';
      continue;
    }
    parts.push(decodedProse(withoutComments(prose)), text);
    prose = '';
    isAfterBlank = true;
  }
  parts.push(decodedProse(withoutComments(prose)));
  return parts.join('').replace(/\n$/, '');
}

function decodedProse(text: string): string {
  if (!text.includes('&')) return text;
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf('`'); at !== -1; at = text.indexOf('`', from)) {
    const span = codeSpan(text, at);
    parts.push(decodeOutsideTags(text.slice(from, at)), span.text);
    from = span.end;
  }
  parts.push(decodeOutsideTags(text.slice(from)));
  return parts.join('');
}

function withoutComments(text: string): string {
  const kept: string[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf('<!--', at);
    const end = start === -1 ? -1 : text.indexOf('-->', start);
    if (end === -1) break;
    kept.push(text.slice(at, start));
    at = end + 3;
  }
  kept.push(text.slice(at));
  return kept.join('');
}

function bracketsOf(text: string): number {
  let depth = 0;
  for (const character of text) {
    if (character === '{' || character === '(' || character === '[') depth++;
    if (character === '}' || character === ')' || character === ']') depth--;
  }
  return depth;
}

function writeProse(text: string, writer: Writer, budget: { left: number }): void {
  let from = 0;
  let at = nextMark(text, 0);
  while (at !== -1) {
    const found = text[at] === '`' ? codeSpan(text, at) : budget.left > 0 ? tagOrComment(text, at, budget) : null;
    if (found !== null) {
      writer.text(decodeReferences(text.slice(from, at)));
      if (found.tag === undefined) writer.text(found.text);
      else writer.tag({ ...found.tag, shown: found.text });
      from = found.end;
    }
    at = nextMark(text, found?.end ?? at + 1);
  }
  writer.text(decodeReferences(text.slice(from)));
}

function nextMark(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '<' || character === '`' || (character === '{' && text.startsWith('/*', at + 1))) return at;
  }
  return -1;
}

interface Replaced {
  text: string;
  end: number;
  /** Absent when the text is not a tag. */
  tag?: { name: string; kind: 'open' | 'close' | 'empty' };
}

function codeSpan(text: string, at: number): Replaced {
  let ticks = 1;
  while (text[at + ticks] === '`') ticks++;
  const window = text.slice(at + ticks, at + ticks + 2000);
  const close = window.indexOf('`'.repeat(ticks));
  const end = close === -1 ? at + ticks : at + ticks + close + ticks;
  return { text: text.slice(at, end), end };
}

function tagOrComment(text: string, at: number, budget: { left: number }): Replaced | null {
  if (text[at] === '{') return upTo(text, at, '*/}', budget);
  if (text.startsWith('<!--', at)) return upTo(text, at, '-->', budget);
  if (!/^<\/?(?:[A-Za-z][\w.:-]*)?[\s/>{]/.test(text.slice(at, at + 100))) return null;
  const end = endOfTag(text, at);
  budget.left -= (end ?? Math.min(text.length, at + maxTagLength)) - at;
  if (end === null) return null;
  const tag = text.slice(at, end);
  return { text: textOfTag(tag), end, tag: kindOfTag(tag) };
}

function upTo(text: string, at: number, close: string, budget: { left: number }): Replaced | null {
  const end = text.indexOf(close, at);
  budget.left -= (end === -1 ? text.length : end) - at;
  return end === -1 ? null : { text: '', end: end + close.length, tag: { name: '', kind: 'empty' } };
}

function endOfTag(text: string, at: number): number | null {
  let depth = 0;
  let quote = '';
  for (let index = at + 1; index < Math.min(text.length, at + maxTagLength); index++) {
    const character = text[index] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'" || (character === '`' && depth > 0)) quote = character;
    else if (character === '{') depth++;
    else if (character === '}') depth--;
    else if (character === '>' && depth <= 0 && text[index - 1] !== '=') return index + 1;
    else if (character === '<' && depth <= 0) return null;
  }
  return null;
}

function kindOfTag(tag: string): Replaced['tag'] {
  const name = /^<\/?([\w.:-]*)/.exec(tag)?.[1] ?? '';
  if (tag.startsWith('</')) return { name, kind: 'close' };
  return { name, kind: tag.endsWith('/>') || voidTag.test(name) ? 'empty' : 'open' };
}

/** Returns the visible text of a tag itself: its title or label, and the name and type of a parameter. */
function textOfTag(tag: string): string {
  const name = /^<([\w.]+)/.exec(tag)?.[1] ?? '';
  const isNote = (admonition.test(name) || typedAdmonition.test(name)) && !tag.endsWith('/>');
  if (tag.startsWith('</') || (!tag.includes('=') && !isNote)) return /^<(?:br|hr)\b/i.test(tag) ? ' ' : '';
  const attributes = new Map<string, string>();
  for (const match of tag.matchAll(/\s([A-Za-z][\w-]{0,60})=(?:"([^"]*)"|'([^']*)'|\{["'`]([^"'`]*)["'`]\})/g)) {
    // a string of JavaScript has no references
    attributes.set(match[1] ?? '', (match[4] ?? decodeAttribute(match[2] ?? match[3] ?? '')).trim());
  }
  const id = attributes.get('id') ?? (name === 'a' ? attributes.get('name') : undefined);
  const anchor = id === undefined || /[\s"<>]/.test(id) ? '' : `<a id="${id}"></a>`;
  if (isNote) return anchor + admonitionText(name, attributes);
  if (/^(?:Param|Response|Property|Request)/.test(name)) return anchor + parameterText(attributes);
  const texts = namedAttributes
    .map((key) => (attributes.get(key) ?? '').replace(/<(?=[a-z/!])/gi, '\\<'))
    .filter((text) => text !== '');
  if (texts.length === 0) return anchor;
  const image = attributes.get('src') ?? '';
  if (/^(?:img|Image)$/.test(name) && /^[^\s()<>]+$/.test(image))
    return `![${texts.join(' ').replace(/[[\]]/g, '')}](${image}) `;
  if (/^(?:img|Image|Icon|Tooltip|code)$/.test(name)) return `${anchor}${texts.join(' ')} `;
  return `${anchor}${texts.map((text, at) => (at === 0 ? `**${text}**\n` : `${text}\n`)).join('')}`;
}

/** Returns the label of an admonition; a callout without a type has only its title. */
function admonitionText(name: string, attributes: Map<string, string>): string {
  const type = admonition.test(name) ? name : (attributes.get('type') ?? (name === 'Callout' ? '' : 'note'));
  const title = (attributes.get('title') ?? '').replace(/<(?=[a-z/!])/gi, '\\<');
  const label = type === '' ? title : labelOf(type, title);
  return label === '' ? '' : `**${label}**\n`;
}

function parameterText(attributes: Map<string, string>): string {
  const name =
    attributes.get('name') ??
    parameterAttributes.map((key) => attributes.get(key)).find((value) => value !== undefined);
  const type = attributes.get('type');
  return name === undefined ? '' : `\`${name}\`${type === undefined ? '' : ` (${type})`} `;
}
