import { readInline } from './read-inline.ts';
import type { Piece } from './read-inline.ts';
import { createTableWatch } from './table-watch.ts';
import { removed, writeText, writeUrl } from './write-text.ts';
import type { Resolve } from './write-text.ts';

export interface InlineWriter {
  /** Takes more of the text, line breaks included, and gives back what is certain by now. */
  push(text: string): string;
  /** The next line belongs to the paragraph of the last one; `prefix` is what stands before its words. */
  goOn(prefix: string): string;
  /** The paragraph has ended: its rest. */
  finish(): string;
  /** Whether all of the text has been given back. */
  isEmpty(): boolean;
  /** A block ended with the last line, too. */
  endBlock(): void;
}

/** So much text at most waits for the end of a link, of code or of HTML; then what began it is taken for a word. */
const longestHold = 1_200;
const longestWord = 800;
const tagBeginning = /<(?:[a-z][\w.+:/@-]*(?:\s[^>]*|:[^\s<>]*)?|\/[a-z\d]*\s*|[!?][^>]*)?$/iy;
/** Only behind these may words leave. */
const mayEndWord = /[\s`)>\u0080-\uffff]/;
const label = /^[\p{L}\p{N}][\p{L}\p{N} _.-]{0,99}$/u;

/** Writes the text of paragraphs anew: links that lead somewhere and code as every reader reads them, all else as words. */
export function createInlineWriter({ resolve, cite }: { resolve: Resolve; cite: Resolve }): InlineWriter {
  let held = '';
  /** Whether the paragraph's beginning is still in `held`, where addresses may be defined. */
  let isStart = true;
  /** What follows the line breaks in `held`. */
  let prefixes = new Map<number, string>();
  /** It is not worth while to read the held text again before it has grown so long. */
  let worthAt = 0;
  let previous = '';
  const table = createTableWatch();

  function take(isLast: boolean): string {
    if (held === '') return '';
    const pieces = readInline(held, { mayDefine: isStart });
    let length = isLast ? held.length : boundary(certainLength(pieces));
    const isFull = length === 0 && held.length >= longestHold;
    if (isFull) length = boundary(held.length);
    const isCut = isFull && held.length - length > longestWord;
    if (isCut) length = held.length;
    const certain = clip(pieces, length);
    const text = write(certain) + (isCut ? ' ' : '');
    if (length > 0) {
      isStart &&= certain.every(
        ({ kind, start, end }) => kind === 'definition' || held.slice(start, end).trim() === '',
      );
      held = held.slice(length);
      prefixes = new Map([...prefixes].map(([position, prefix]) => [position - length, prefix]));
    }
    const growth = held.length < 200 ? 1.2 : 1.6;
    worthAt = /[`[<]/.test(held) ? Math.min(held.length * growth + 8, longestHold) : 0;
    previous = text.at(-1) ?? previous;
    return text;

    /** How much no further text can change. */
    function certainLength(pieces: Piece[]): number {
      const open: number[] = [];
      for (const piece of pieces) {
        const isWords = piece.kind === 'words';
        if (!isWords && piece.end >= (piece.kind === 'definition' ? held.trimEnd().length : held.length))
          return open[0] ?? piece.start;
        if (!isWords) continue;
        for (let at = piece.start; at < piece.end; at += 1) {
          const character = held.charAt(at);
          if (character === '\\') at += 1;
          else if (character === '`' || (character === '<' && mayBeTag(held, at))) return open[0] ?? at;
          else if (character === '[') open.push(at);
          else if (character === ']' && !(isStart ? /^(?:$|[(:])/ : /^(?:$|\()/).test(held.slice(at + 1, at + 2)))
            open.pop();
        }
      }
      return open[0] ?? held.length;
    }

    /** The end of the last word before a position: an address may go on, and words without a blank may become one. */
    function boundary(limit: number): number {
      for (const piece of pieces.toReversed()) {
        if (piece.start >= limit) continue;
        if (piece.kind === 'code' || piece.kind === 'definition') return piece.end;
        if (piece.kind === 'link' && resolve(piece.url) !== null) return piece.end;
        if (piece.kind !== 'words') continue;
        for (let at = Math.min(piece.end, limit); at > piece.start; at -= 1)
          if (/[\s\u0080-\ud7ff\udc00-\uffff]/.test(held.charAt(at - 1))) return at;
      }
      return 0;
    }
  }

  function write(pieces: Piece[]): string {
    let text = '';
    for (const part of partsOf(pieces, false)) {
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

  /** Markup as it is written, and the words between. */
  function* partsOf(
    pieces: Piece[],
    inLink: boolean,
  ): Generator<string | { words: string; breaks: string[]; next: string }> {
    let words = '';
    let breaks: string[] = [];
    for (const piece of flat(pieces, inLink)) {
      if (piece.kind === 'words') {
        const own = held.slice(piece.start, piece.end);
        words += own;
        for (let at = own.indexOf('\n'); at >= 0; at = own.indexOf('\n', at + 1))
          breaks.push(prefixes.get(piece.start + at) ?? '');
        continue;
      }
      const plain = plainOf(piece, words, inLink);
      if (plain !== null) {
        words += plain;
        continue;
      }
      const markup = writePiece(piece);
      if (words !== '') yield { words, breaks, next: markup };
      words = '';
      breaks = [];
      yield markup;
    }
    if (words !== '') yield { words, breaks, next: '' };
  }

  /** A link that leads nowhere leaves its words, and so does one within another. */
  function flat(pieces: Piece[], inLink: boolean): Piece[] {
    return pieces.flatMap((piece) =>
      piece.kind === 'link' && (inLink || (!piece.isBare && resolve(piece.url) === null))
        ? flat(piece.words, inLink)
        : [piece],
    );
  }

  /** What is written as words, though it is none. */
  function plainOf(piece: Piece, before: string, inLink: boolean): string | null {
    if (piece.kind === 'caption') return escapeAll(piece.words);
    if (piece.kind === 'code' && piece.code.includes('|') && table.mayBeRow(before)) return escapeAll(piece.code);
    // Some readers look for the end of a link in its code
    if (piece.kind === 'code' && inLink && /[`[\]]/.test(piece.code)) return escapeAll(piece.code);
    if (piece.kind !== 'markup') return null;
    const markup = held.slice(piece.start, piece.end);
    return (/\s/.test(markup) && markup.includes('\n')) || /^<br\b/i.test(markup) ? ' ' : '';
  }

  function writePiece(piece: Piece): string {
    if (piece.kind === 'code') return writeCode(piece.code);
    if (piece.kind === 'definition') {
      const url = label.test(piece.label) ? cite(piece.url) : null;
      return url === null ? '' : `[${piece.label}]: ${writeUrl(url)}`;
    }
    if (piece.kind !== 'link') return '';
    const url = cite(piece.url);
    if (url === null) return piece.url.startsWith('mailto:') ? writeCode(piece.url.slice(7)) : removed;
    if (piece.isBare && !piece.url.startsWith('mailto:')) return `<${writeUrl(url)}>`;
    let words = '';
    for (const part of partsOf(piece.words, true)) {
      if (typeof part === 'string') words += part;
      else words += writeText(part.words, { resolve, inLink: true, previous: words.at(-1) ?? '[', next: part.next });
    }
    return `[${words.replaceAll('\n', ' ')}](${writeUrl(url)})`;
  }

  return {
    push(text) {
      let written = '';
      for (let rest = text; rest !== '';) {
        const part = rest.slice(0, Math.max(1, longestHold - held.length));
        rest = rest.slice(part.length);
        held += part;
        if (held.length >= longestHold || (held.length >= worthAt && mayEndWord.test(part))) written += take(false);
      }
      return written;
    },
    goOn(prefix) {
      if (!held.endsWith('\n')) return prefix;
      prefixes.set(held.length - 1, prefix);
      return '';
    },
    finish() {
      const text = take(true);
      isStart = true;
      previous = '';
      return text;
    },
    isEmpty: () => held === '',
    endBlock: () => table.reset(),
  };
}

/** Whether the beginning of a tag or of an address in angle brackets stands at a position. */
function mayBeTag(text: string, at: number): boolean {
  tagBeginning.lastIndex = at;
  return tagBeginning.test(text);
}

function clip(pieces: Piece[], length: number): Piece[] {
  return pieces
    .filter(({ start }) => start < length)
    .map((piece) => (piece.end > length ? { ...piece, end: length } : piece));
}

function escapeAll(words: string): string {
  return words.replaceAll('\n', ' ').replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`);
}

function writeCode(code: string): string {
  const words = code.replaceAll('\n', ' ');
  const longest = Math.max(0, ...Array.from(words.matchAll(/`+/g), ([run]) => run.length));
  const ticks = '`'.repeat(longest + 1);
  const pad = /^`|`$|^ .*\S.* $/.test(words) ? ' ' : '';
  return `${ticks}${pad}${words}${pad}${ticks}`;
}
