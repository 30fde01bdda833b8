import { createFenceWriter } from './write-fence.ts';
import { createLineReader } from './read-lines.ts';
import { createInlineWriter } from './write-inline.ts';

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
  /** Takes the next delta and gives back what is certain to mean the same whatever follows. */
  push(delta: string): CheckedText;
  /** The rest, at the end of the answer. */
  flush(): CheckedText;
}

/** A line is words when nothing else is certain after so many characters. */
const longestBeginning = 300;
/** A longer line of code is broken. */
const longestCodeLine = 16_000;
const oddCharacters = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff]/g; // eslint-disable-line no-control-regex
const markers = String.raw`(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t])))*`;
/** A line that is no code and defines no address, whatever follows: the markers before its words, and their beginning. */
const certainWords = new RegExp(
  String.raw`^(${markers} {0,3})(?:[^\s\`~[|:\-+*>\d]|\d+[^\d.)]|[*+][^\s*+]|\`{1,2}[^\`]|~{1,2}[^~]|\[[^\]\\]*\][^:]|(?:[|:]|-(?=[|:-]))[|:\s-]*[^|:\s-])`,
);

/**
 * Reads an answer by CommonMark and writes it anew, as it comes. A link whose target `resolve` does not know keeps its words and
 * loses its target, images become links, HTML goes. What is left is written so that no reader of Markdown takes any of it
 * for another address; code stays as it is.
 */
export function createLinkChecker(resolve: (target: string) => LinkTarget | null): LinkChecker {
  let cited: string[] = [];
  let lines = createLineReader();
  /** The line that has not ended yet, and whether its words are being written already. */
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
    let text = '';
    for (const part of delta.split(/(?<=\n)/)) {
      if (isBegun) text += inline.push(part);
      else {
        line += part;
        if (!part.endsWith('\n') && !fence.isOpen()) text += begin();
      }
      if (part.endsWith('\n')) text += endLine();
      else if (fence.isOpen() && line.length > longestCodeLine) {
        line += '\n';
        text += endLine();
      }
    }
    return text;
  }

  /** Words need not wait for the end of their line. */
  function begin(): string {
    const isLong = line.length > longestBeginning;
    const prefix = certainWords.exec(line)?.[1] ?? (isLong ? '' : undefined);
    if (prefix === undefined || (!isLong && !inline.isEmpty())) return '';
    const before = isLong ? inline.finish() : '';
    const content = line.slice(prefix.length);
    line = line.slice(0, longestBeginning);
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

  /** Line breaks of one kind, and no characters that readers treat differently. */
  function clean(delta: string): string {
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
    push: (delta) => checked(takeDelta(clean(delta))),
    flush() {
      const rest = line === '' || isBegun ? '' : endLine();
      lines = createLineReader();
      return checked(rest + inline.finish());
    },
  };
}
