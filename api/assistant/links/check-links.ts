import { createFenceWriter } from './write-fence.ts';
import { createLineReader } from './read-lines.ts';
import { createInlineWriter } from './write-inline.ts';

/** Target that a link of an answer may be given. */
export interface LinkTarget {
  /** URL to write. */
  url: string;
  /** Path of the target page if it belongs to the site, which makes it a source of the answer; otherwise null. */
  path: string | null;
}

/** A part of an answer that is ready to be sent. `cited` lists the pages its links lead to, in order. */
export interface CheckedText {
  text: string;
  cited: string[];
}

/** Number of characters after which an undecided line counts as words. */
const maxBeginningLength = 300;
/** Longest line of code, in characters. Longer ones are broken. */
const maxCodeLineLength = 16_000;
const oddCharacters = /[[\p{Cc}&&\p{ASCII}]--[\t\n\r]]|\ufeff/gv;
const needsCleaning = /[[\p{Cc}&&\p{ASCII}]--[\t\n]]|[\ufeff\u0085\u2028\u2029]/v;
const markers = String.raw`(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t])))*`;
/** Matches the start of a line that, whatever follows, is not code or a link definition. It captures the markers. */
const certainWords = new RegExp(
  String.raw`^(${markers} {0,3})(?:[^\s\`~[|:\-+*>\d]|\d+[^\d.)]|[*+][^\s*+]|\`{1,2}[^\`]|~{1,2}[^~]|\[[^\]\\]*\][^:]|(?:[|:]|-(?=[|:-]))[|:\s-]*[^|:\s-])`,
);

/**
 * Creates a checker that parses an answer as CommonMark and rewrites it as it arrives. A link whose target `resolve`
 * does not know keeps its text and loses its URL, images become links, and HTML is removed. The result is written
 * so that no Markdown reader finds another address in it; code stays as it is.
 */
export function createLinkChecker(resolve: (target: string) => LinkTarget | null) {
  let cited: string[] = [];
  let lines = createLineReader();
  /** The current, incomplete line. */
  let line = '';
  let isBegun = false;
  let wasReturn = false;
  const fence = createFenceWriter();
  const inline = createInlineWriter({
    resolve: (address) => resolve(address)?.url ?? null,
    cite(address) {
      const target = resolve(address);
      if (target !== null && target.path !== null) cited.push(target.path);
      return target?.url ?? null;
    },
  });

  function takeDelta(delta: string): string {
    if (isBegun && !delta.includes('\n')) return inline.push(delta);
    let text = '';
    for (const part of delta.split(/(?<=\n)/)) {
      if (isBegun) text += inline.push(part);
      else {
        line += part;
        if (!part.endsWith('\n') && !fence.isOpen()) text += begin();
      }
      if (part.endsWith('\n')) text += endLine();
      else if (fence.isOpen() && line.length > maxCodeLineLength) {
        line += '\n';
        text += endLine();
      }
    }
    return text;
  }

  /** Starts writing the words of the current line before it has ended. */
  function begin(): string {
    const isLong = line.length > maxBeginningLength;
    const prefix = certainWords.exec(line)?.[1] ?? (isLong ? '' : undefined);
    if (prefix === undefined || (!isLong && !inline.isEmpty())) return '';
    const before = isLong ? inline.finish() : '';
    const content = line.slice(prefix.length);
    line = line.slice(0, maxBeginningLength);
    isBegun = true;
    return before + prefix + inline.push(content);
  }

  function endLine(): string {
    const whole = line;
    const wasBegun = isBegun;
    line = '';
    isBegun = false;
    const { kind, prefix: length, goesOn } = lines.read(whole.endsWith('\n') ? whole : `${whole}\n`);
    if (wasBegun) return '';
    const [prefix, content] = [whole.slice(0, length), whole.slice(length)];
    switch (kind) {
      case 'fence':
        return endWords() + fence.close() + fence.open(prefix, content);
      case 'code':
        if (fence.isOpen()) return fence.code(content);
        break;
      case 'fence-end':
        return fence.close();
      case 'indented-code':
        return endWords() + fence.indented(prefix, content);
      case 'blank':
        return endWords() + fence.close() + whole;
      case 'text':
        break;
    }
    const before = fence.close();
    if (goesOn) return before + inline.goOn(prefix) + inline.push(content);
    return before + inline.finish() + prefix + inline.push(content);
  }

  function endWords(): string {
    const text = inline.finish();
    inline.endBlock();
    return text;
  }

  /** Normalizes line breaks, and removes or replaces characters that Markdown readers treat differently. */
  function clean(delta: string): string {
    if (!wasReturn && !needsCleaning.test(delta)) return delta;
    const text = wasReturn && delta.startsWith('\n') ? delta.slice(1) : delta;
    if (delta !== '') wasReturn = delta.endsWith('\r');
    return text
      .replaceAll(/\r\n?/g, '\n')
      .replaceAll(oddCharacters, '')
      .replaceAll(/[\u0085\u2028\u2029]/g, ' ');
  }

  function checked(text: string): CheckedText {
    const pages = cited;
    cited = [];
    return { text, cited: pages };
  }

  return {
    /** Accepts the next delta and returns the text whose meaning no later text can change. */
    push: (delta: string): CheckedText => checked(takeDelta(clean(delta))),
    /** Returns the rest at the end of the answer. */
    flush(): CheckedText {
      const rest = line === '' || isBegun ? '' : endLine();
      lines = createLineReader();
      return checked(rest + inline.finish());
    },
  };
}
