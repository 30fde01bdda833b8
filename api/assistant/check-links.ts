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

const longestLabel = 400;
const longestTarget = 2_000;
const longestInlineCode = 500;
const startOfSomething = /`+|!?\[|<?https?:\/\//g;
/** The end of a delta that may be the start of a link or of code. */
const unfinishedStart = /(?:`+|!|!?\[|<?h(?:t(?:t(?:ps?(?::\/?)?)?)?)?|<)$/;
const inParentheses = /^[ ]*<?([^\s<>]*)>?(?:[ ]+"[^"]*")?[ ]*$/;
const bareAddress = /^<?(https?:\/\/[^\s<>)\]"'`]+)/;

/**
 * Checks every link of an answer before it leaves. A link whose target `resolve` does not know keeps its words and loses its
 * target; addresses in code stay as they are.
 */
export function createLinkChecker(resolve: (target: string) => LinkTarget | null): LinkChecker {
  let held = '';
  /** The backticks that opened the code block we are in. */
  let fence = '';

  function take(isLast: boolean): CheckedText {
    let text = '';
    const cited: string[] = [];
    const emit = (length: number) => {
      text += held.slice(0, length);
      held = held.slice(length);
    };

    while (held !== '') {
      if (fence !== '') {
        const end = endOfBlock(held, fence, isLast);
        emit(end.position);
        if (!end.isClosed) break;
        fence = '';
        continue;
      }
      startOfSomething.lastIndex = 0;
      const start = startOfSomething.exec(held);
      if (start === null) {
        const tail = isLast ? null : unfinishedStart.exec(held);
        emit(tail === null ? held.length : tail.index);
        break;
      }
      emit(start.index);
      const token = start[0];
      if (token.startsWith('`')) {
        if (token.length === held.length && !isLast) break; // the run of backticks may go on
        if (token.length >= 3) {
          fence = token;
          emit(token.length);
          continue;
        }
        const length = takeInlineCode(held, token, isLast);
        if (length === 'unfinished') break;
        emit(length);
        continue;
      }
      const piece = token.endsWith('[') ? takeLink(held, isLast) : takeAddress(held, isLast);
      if (piece === 'unfinished') break;
      if (piece === null) {
        emit(token.length);
        continue;
      }
      held = held.slice(piece.length);
      const target = resolve(piece.target);
      text += target === null ? piece.words : piece.write(target.url);
      if (target?.path !== null && target?.path !== undefined) cited.push(target.path);
    }
    return { text, cited };
  }

  return {
    push(delta) {
      if (held === '' && fence === '' && !/[`[!<h]/.test(delta)) return { text: delta, cited: [] };
      held += delta;
      return take(false);
    },
    flush: () => take(true),
  };
}

interface Piece {
  length: number;
  target: string;
  /** What stays when the target is not known. */
  words: string;
  write(url: string): string;
}

/** `[words](target)`. Brackets within the words may be nested once; a link within them is the link that counts. */
function takeLink(text: string, isLast: boolean): Piece | 'unfinished' | null {
  const wordsStart = text.indexOf('[') + 1;
  const close = endOfWords(text, wordsStart);
  if (close === null) return null;
  if (close === 'unfinished') return isLast ? null : 'unfinished';
  if (text[close + 1] !== '(') return null;
  const end = text.indexOf(')', close);
  const target = text.slice(close + 2, end < 0 ? undefined : end);
  if (target.includes('\n') || target.length > longestTarget) return null;
  if (end < 0) return isLast ? null : 'unfinished';
  const address = inParentheses.exec(target)?.[1];
  if (address === undefined) return null;
  const words = text.slice(wordsStart, close);
  return { length: end + 1, target: address, words, write: (url) => `[${words}](${url})` };
}

/** Position of the bracket that closes the words, once the character behind it is known too. */
function endOfWords(text: string, start: number): number | 'unfinished' | null {
  let depth = 0;
  for (let position = start; position < text.length; position += 1) {
    if (position - start > longestLabel) return null;
    const character = text[position];
    if (character === '\\') position += 1;
    else if (character === '\n' && text[position - 1] === '\n') return null;
    else if (character === '[') depth += 1;
    else if (character === ']') {
      if (position + 1 === text.length) return 'unfinished';
      if (depth === 0) return position;
      if (text[position + 1] === '(') return null;
      depth -= 1;
    }
  }
  return 'unfinished';
}

function takeAddress(text: string, isLast: boolean): Piece | 'unfinished' | null {
  const match = bareAddress.exec(text);
  if (match === null) return isLast ? null : 'unfinished';
  const [whole, found = ''] = match;
  if (whole.length === text.length && !isLast && text.length <= longestTarget) return 'unfinished';
  const address = found.replace(/[.,;:!?]+$/, '');
  const isBracketed = text.startsWith('<') && text[whole.length] === '>';
  const length = isBracketed ? whole.length + 1 : whole.length - (found.length - address.length);
  return { length, target: address, words: '(link removed)', write: (url) => (isBracketed ? `<${url}>` : url) };
}

/** Length of an inline code span, or of its backticks alone when they open none. */
function takeInlineCode(text: string, ticks: string, isLast: boolean): number | 'unfinished' {
  const window = text.slice(0, longestInlineCode);
  const paragraph = window.indexOf('\n\n');
  const within = paragraph < 0 ? window : window.slice(0, paragraph);
  const runs = /`+/g;
  runs.lastIndex = ticks.length;
  for (let run = runs.exec(within); run !== null; run = runs.exec(within)) {
    const end = run.index + run[0].length;
    if (end === text.length && !isLast) return 'unfinished';
    if (run[0].length === ticks.length) return end;
  }
  const isDecided = isLast || paragraph >= 0 || text.length >= longestInlineCode;
  return isDecided ? ticks.length : 'unfinished';
}

/** How much of a code block may leave: up to its closing fence, or all but backticks that may become it. */
function endOfBlock(text: string, fence: string, isLast: boolean): { position: number; isClosed: boolean } {
  const runs = /`+/g;
  for (let run = runs.exec(text); run !== null; run = runs.exec(text)) {
    const end = run.index + run[0].length;
    if (end === text.length && !isLast) return { position: run.index, isClosed: false };
    if (run[0].length >= fence.length) return { position: end, isClosed: true };
  }
  return { position: text.length, isClosed: false };
}
