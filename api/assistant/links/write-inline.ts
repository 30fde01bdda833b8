import { readInline } from './read-inline.ts';
import type { Segment } from './read-inline.ts';
import { createTableWatch } from './table-watch.ts';
import { removed, writeText, writeUrl } from './write-text.ts';
import type { Resolve } from './write-text.ts';

/** Longest text held until a link, code or HTML ends, in characters. Beyond it, the opening counts as plain text. */
const maxHeldLength = 1_200;
const maxWordLength = 800;
const tagBeginning = /<(?:[a-z][\w.+/@-]*(?:\s[^>]*|:(?:[\w.+:/@-]*\s[^>]*|[^\s<>]*))?|\/[a-z\d]*\s*|[!?][^>]*)?$/iy;
/** Characters after which words may be sent. */
const mayEndWord = /[\s`)>\u0080-\uffff]/;
/** Text up to the end of its last word, without anything that may be markup. */
const wholeWords = /^[^`[\]<\\]*[\s\u0080-\ud7ff\udc00-\uffff]/;
const mayBeMarkup = /[`[\]<\\]/;
const label = /^[\p{L}\p{N}][\p{L}\p{N} _.-]{0,99}$/u;

/**
 * Creates a writer that rewrites the text of paragraphs. Links that resolve and code are written so that every Markdown
 * reader reads them alike; everything else becomes plain words.
 */
export function createInlineWriter({ resolve, cite }: { resolve: Resolve; cite: Resolve }) {
  let held = '';
  /** Whether `held` still contains the start of the paragraph, where link definitions are allowed. */
  let isStart = true;
  /** Prefixes to write after the line breaks in `held`, by position. */
  let prefixes = new Map<number, string>();
  /** Length of `held` at which it is worth parsing again. */
  let worthAt = 0;
  let previous = '';
  const table = createTableWatch();

  /** Takes whole words, which is most of an answer, without the work that markup needs; null if there may be any. */
  function takeWords(): string | null {
    const words = prefixes.size > 0 || mayBeMarkup.test(held) ? undefined : wholeWords.exec(held)?.[0];
    if (words === undefined) return null;
    isStart &&= words.trim() === '';
    held = held.slice(words.length);
    worthAt = 0;
    const text = table.takeWords(writeText(words, { resolve: cite, inLink: false, previous, next: '' }));
    previous = text.at(-1) ?? previous;
    return text;
  }

  function take(isLast: boolean): string {
    if (held === '') return '';
    const segments = readInline(held, { mayDefine: isStart });
    const pairs: { start: number; end: number }[] = [];
    let length = isLast ? held.length : boundary(certainLength(segments));
    const isFull = length === 0 && held.length >= maxHeldLength;
    if (isFull) length = boundary(held.length);
    const isCut = isFull && held.length - length > maxWordLength;
    if (isCut) length = held.length;
    const certain = clip(segments, length);
    const text = write(certain) + (isCut ? ' ' : '');
    if (length > 0) {
      isStart &&= certain.every(
        ({ kind, start, end }) => kind === 'definition' || held.slice(start, end).trim() === '',
      );
      held = held.slice(length);
      const left = [...prefixes].filter(([position]) => position >= length);
      prefixes = new Map(left.map(([position, prefix]) => [position - length, prefix]));
    }
    const growth = held.length < 200 ? 1.2 : 1.6;
    worthAt = /[`[<]/.test(held) ? Math.min(held.length * growth + 8, maxHeldLength) : 0;
    previous = text.at(-1) ?? previous;
    return text;

    /** Returns the length of the held text that no further text can change. */
    function certainLength(segments: Segment[]): number {
      const open: number[] = [];
      for (const segment of segments) {
        const isWords = segment.kind === 'words';
        if (!isWords && segment.end >= (segment.kind === 'definition' ? held.trimEnd().length : held.length))
          return open[0] ?? segment.start;
        if (segment.kind === 'link' && segment.words.some(holdsOpening)) return open[0] ?? segment.start;
        if (!isWords || !mayBeMarkup.test(held.slice(segment.start, segment.end))) continue;
        for (let at = segment.start; at < segment.end; at += 1) {
          const character = held.charAt(at);
          if (character === '\\') at += 1;
          else if (isOpening(at)) return open[0] ?? at;
          else if (character === '[') open.push(at);
          else if (character === ']' && !(isStart ? /^(?:$|[(:])/ : /^(?:$|\()/).test(held.slice(at + 1, at + 2))) {
            const start = open.pop();
            if (start !== undefined) pairs.push({ start, end: at });
          }
        }
      }
      return open[0] ?? held.length;
    }

    /** Reports whether code or HTML may begin in the words of a link, which it would end: both bind more tightly. */
    function holdsOpening({ kind, start, end }: Segment): boolean {
      if (kind !== 'words' && kind !== 'caption') return false;
      for (let at = start; at < end; at += 1) {
        if (held.charAt(at) === '\\') at += 1;
        else if (isOpening(at)) return true;
      }
      return false;
    }

    function isOpening(at: number): boolean {
      return held.charAt(at) === '`' || (held.charAt(at) === '<' && mayBeTag(held, at));
    }

    /** Returns the end of the last word before a position: an incomplete word may become or continue an address. */
    function boundary(limit: number): number {
      // a bracket is written as part of a pair only if both are sent together
      const partsPair = (at: number) => pairs.some(({ start, end }) => start < at && at <= end);
      for (const segment of segments.toReversed()) {
        if (segment.start >= limit) continue;
        const isWhole =
          segment.kind === 'code' ||
          segment.kind === 'definition' ||
          (segment.kind === 'link' && resolve(segment.url) !== null);
        if (isWhole && !partsPair(segment.end)) return segment.end;
        if (segment.kind !== 'words') continue;
        for (let at = Math.min(segment.end, limit); at > segment.start; at -= 1)
          if (/[\s\u0080-\ud7ff\udc00-\uffff]/.test(held.charAt(at - 1)) && !partsPair(at)) return at;
      }
      return 0;
    }
  }

  function write(segments: Segment[]): string {
    let text = '';
    for (const part of partsOf(segments, false)) {
      if (typeof part === 'string') {
        const isCodeBehindCode = part.startsWith('`') && (text.at(-1) ?? previous) === '`';
        text += isCodeBehindCode ? ` ${part}` : part;
        table.takeMarkup(part);
        continue;
      }
      const { next } = part;
      const words = writeText(part.words, { resolve: cite, inLink: false, previous: text.at(-1) ?? previous, next });
      const breaks = [...part.breaks];
      text += table.takeWords(words).replaceAll('\n', () => `\n${breaks.shift() ?? ''}`);
    }
    return text;
  }

  /** Yields the markup as it is written, and the words between. */
  function* partsOf(
    segments: Segment[],
    inLink: boolean,
  ): Generator<string | { words: string; breaks: string[]; next: string }> {
    let words = '';
    let breaks: string[] = [];
    for (const segment of flat(segments, inLink)) {
      if (segment.kind === 'words') {
        const own = held.slice(segment.start, segment.end);
        words += own;
        for (let at = own.indexOf('\n'); at >= 0; at = own.indexOf('\n', at + 1))
          breaks.push(prefixes.get(segment.start + at) ?? '');
        continue;
      }
      const plain = plainOf(segment, words, inLink);
      if (plain !== null) {
        words += plain;
        continue;
      }
      const markup = writeSegment(segment);
      if (words !== '') yield { words, breaks, next: markup };
      words = '';
      breaks = [];
      yield markup;
    }
    if (words !== '') yield { words, breaks, next: '' };
  }

  /** Replaces links that do not resolve, and links within links, with their words. */
  function flat(segments: Segment[], inLink: boolean): Segment[] {
    return segments.flatMap((segment) =>
      segment.kind === 'link' && (inLink || (!segment.isBare && resolve(segment.url) === null))
        ? flat(segment.words, inLink)
        : [segment],
    );
  }

  /** Returns the words to write instead of markup, or null to write it as markup. */
  function plainOf(segment: Segment, before: string, inLink: boolean): string | null {
    if (segment.kind === 'caption') return escapeAll(segment.words);
    if (segment.kind === 'code' && segment.code.includes('|') && table.mayBeRow(before)) return escapeAll(segment.code);
    // some Markdown readers look for the end of a link inside its code
    if (segment.kind === 'code' && inLink && /[`[\]]/.test(segment.code)) return escapeAll(segment.code);
    if (segment.kind !== 'markup') return null;
    const markup = held.slice(segment.start, segment.end);
    return (/\s/.test(markup) && markup.includes('\n')) || /^<br\b/i.test(markup) ? ' ' : '';
  }

  function writeSegment(segment: Segment): string {
    if (segment.kind === 'code') return writeCode(segment.code);
    if (segment.kind === 'definition') {
      const url = label.test(segment.label) ? cite(segment.url) : null;
      return url === null ? '' : `[${segment.label}]: ${writeUrl(url)}`;
    }
    if (segment.kind !== 'link') return '';
    const url = cite(segment.url);
    if (url === null) return segment.url.startsWith('mailto:') ? writeCode(segment.url.slice(7)) : removed;
    if (segment.isBare && !segment.url.startsWith('mailto:')) return `<${writeUrl(url)}>`;
    let words = '';
    for (const part of partsOf(segment.words, true)) {
      if (typeof part === 'string') words += part;
      else words += writeText(part.words, { resolve, inLink: true, previous: words.at(-1) ?? '[', next: part.next });
    }
    return `[${words.replaceAll('\n', ' ')}](${writeUrl(url)})`;
  }

  return {
    /** Accepts more text, including line breaks, and returns the output that is certain by now. */
    push(text: string): string {
      let written = '';
      for (let rest = text; rest !== '';) {
        const part = rest.slice(0, Math.max(1, maxHeldLength - held.length));
        rest = rest.slice(part.length);
        held += part;
        if (held.length >= maxHeldLength || (held.length >= worthAt && mayEndWord.test(part)))
          written += takeWords() ?? take(false);
      }
      return written;
    },
    /** Continues the paragraph on the next line. `prefix` is what precedes that line's words. */
    goOn(prefix: string): string {
      if (!held.endsWith('\n')) return prefix;
      prefixes.set(held.length - 1, prefix);
      return '';
    },
    /** Ends the paragraph and returns the rest of it. */
    finish(): string {
      const text = take(true);
      isStart = true;
      previous = '';
      return text;
    },
    /** Reports whether all of the text has been returned. */
    isEmpty: (): boolean => held === '',
    /** Ends the block, and with it any table. */
    endBlock: (): void => table.reset(),
  };
}

/** Reports whether a tag or an address in angle brackets may begin at a position. */
function mayBeTag(text: string, at: number): boolean {
  tagBeginning.lastIndex = at;
  return tagBeginning.test(text);
}

function clip(segments: Segment[], length: number): Segment[] {
  return segments
    .filter(({ start }) => start < length)
    .map((segment) => (segment.end > length ? { ...segment, end: length } : segment));
}

function escapeAll(words: string): string {
  return words.replaceAll('\n', ' ').replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`);
}

function writeCode(code: string): string {
  const words = code.replaceAll('\n', ' ');
  const longest = Math.max(0, ...Array.from(words.matchAll(/`+/g), ([run]) => run.length));
  const ticks = '`'.repeat(longest + 1);
  const pad = /^`|`$|^ (?=.*\S).* $/.test(words) ? ' ' : '';
  return `${ticks}${pad}${words}${pad}${ticks}`;
}
