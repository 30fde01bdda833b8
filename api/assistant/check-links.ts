import { readAddress, readInlineCode, readLink, readLinkEnd, readTag } from './link-syntax.ts';
import type { Reading } from './link-syntax.ts';

/** What a link of an answer may become. */
export interface LinkTarget {
  /** The address to write. */
  url: string;
  /** Path of the page it leads to when it is one of the site's; that page is then a source of the answer. */
  path: string | null;
}

/** A stretch of an answer that may leave. `cited`: pages that its links lead to, in order. */
export interface CheckedText {
  text: string;
  cited: string[];
}

export interface LinkChecker {
  /** Takes the next delta and gives back what may leave; the beginning of a link is held back until it is whole. */
  push(delta: string): CheckedText;
  /** The rest, at the end of the answer. */
  flush(): CheckedText;
}

const longestFenceLine = 500;
const startOfSomething = /`+|~{3,}|!?\[|\]\(|<|https?:\/\/|www\./gi;
/** The end of a delta that may be the start of a link or of code. */
const unfinishedStart = /(?:`+|~+|!|!?\[|\]|<|(?<![a-z0-9])(?:h(?:t(?:t(?:ps?(?::\/?)?)?)?)?|w{1,3}))$/i;
const onlyMarkers = /^[ \t>*+\-\d.)]{0,40}$/;

/**
 * Checks every link of an answer before it leaves. A link whose target `resolve` does not know keeps its words and loses its
 * target; addresses in code stay as they are.
 */
export function createLinkChecker(resolve: (target: string) => LinkTarget | null): LinkChecker {
  let held = '';
  /** The backticks or tildes that opened the code block we are in. */
  let fence = '';
  /** What stood before `held` on its line, cut short when it is long. */
  let line = '';

  function consume(length: number): string {
    const taken = held.slice(0, length);
    held = held.slice(length);
    const lastBreak = taken.lastIndexOf('\n');
    line = (lastBreak < 0 ? line + taken : taken.slice(lastBreak + 1)).slice(-50);
    return taken;
  }

  function take(isLast: boolean): CheckedText {
    let text = '';
    const cited: string[] = [];
    while (held !== '') {
      if (fence !== '') {
        const end = endOfBlock(held, { fence, isLineStart: line === '', isLast });
        text += consume(end.position);
        if (!end.isClosed) break;
        fence = '';
        continue;
      }
      startOfSomething.lastIndex = 0;
      const start = startOfSomething.exec(held);
      if (start === null) {
        const tail = isLast ? null : unfinishedStart.exec(held);
        const isWithinWord = tail !== null && tail.index === 0 && isAddressStart(tail[0]) && endsInWord(line);
        text += consume(tail === null || isWithinWord ? held.length : tail.index);
        break;
      }
      text += consume(start.index);
      const token = start[0];
      if (/^[`~]/.test(token)) {
        const length = takeCode(token, isLast);
        if (length === 'unfinished') break;
        text += consume(length);
        continue;
      }
      const piece = read(token, isLast);
      if (piece === 'unfinished') break;
      if (piece === null) {
        text += consume(token.length);
        continue;
      }
      consume(piece.length);
      const target = piece.targets.map((address) => resolve(address)).find((known) => known !== null) ?? null;
      text += target === null ? piece.words : piece.write(target.url);
      if (target !== null && target.path !== null) cited.push(target.path);
    }
    return { text, cited };
  }

  /** Length of code that may leave as it is; a block is entered here and left elsewhere. */
  function takeCode(token: string, isLast: boolean): number | 'unfinished' {
    if (token.length === held.length && !isLast) return 'unfinished'; // the run may go on
    if (token.length >= 3 && onlyMarkers.test(line)) {
      const window = held.slice(0, longestFenceLine);
      const lineEnd = window.indexOf('\n');
      if (lineEnd < 0 && !isLast && window.length < longestFenceLine) return 'unfinished';
      const first = lineEnd < 0 ? window : window.slice(0, lineEnd + 1);
      if (token.startsWith('~') || !first.includes('`', token.length)) {
        fence = token;
        return first.length;
      }
    }
    return token.startsWith('~') ? token.length : readInlineCode(held, token, isLast);
  }

  function read(token: string, isLast: boolean): Reading {
    if (token.endsWith('[')) return readLink(held, { isLast, isLineStart: onlyMarkers.test(line) });
    if (token === '](') return readLinkEnd(held, isLast);
    if (token === '<') return readTag(held, isLast);
    return endsInWord(line) ? null : readAddress(held, isLast);
  }

  return {
    push(delta) {
      held += delta;
      return take(false);
    },
    flush: () => take(true),
  };
}

function isAddressStart(text: string): boolean {
  return /^[hw]/i.test(text);
}

function endsInWord(line: string): boolean {
  return /[a-z0-9]$/i.test(line);
}

/** How much of a code block may leave: up to and with its closing line, or all but a line that may become it. */
function endOfBlock(
  text: string,
  { fence, isLineStart, isLast }: { fence: string; isLineStart: boolean; isLast: boolean },
): { position: number; isClosed: boolean } {
  const closing = new RegExp(`^[ \\t>]*${fence.slice(0, 1)}{${fence.length},}[ \\t]*$`);
  const beginning = new RegExp(`^[ \\t>]*${fence.slice(0, 1)}*[ \\t]*$`);
  let start = isLineStart ? 0 : text.indexOf('\n') + 1;
  if (start === 0 && !isLineStart) return { position: text.length, isClosed: false };
  for (;;) {
    const lineEnd = text.indexOf('\n', start);
    const line = text.slice(start, lineEnd < 0 ? undefined : lineEnd);
    const isShort = line.length < longestFenceLine;
    if ((lineEnd >= 0 || isLast) && isShort && closing.test(line))
      return { position: start + line.length, isClosed: true };
    if (lineEnd < 0) {
      const mayClose = !isLast && isShort && beginning.test(line);
      return { position: mayClose ? start : text.length, isClosed: false };
    }
    start = lineEnd + 1;
  }
}
