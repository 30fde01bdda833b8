/** A part of a block that stands or falls as a whole: fenced code, a row of a table, or a line of sentences. */
export interface Line {
  kind: 'code' | 'row' | 'sentences';
  text: string;
}

export const wholeLinks = /\[[^[\]\n]{0,500}\]\(<?[^()\s<>]{1,2000}>?\)/g;
const markers = String.raw`[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]*)*`;
const marker = new RegExp(`^${markers}`);
const fence = new RegExp(String.raw`^${markers}(\`{3,}|~{3,})`);
const row = /^[ \t]*\|/;
/** A line that does not continue the sentence of the line before it. */
const beginning = /^[ \t]*(?:$|[-*+>|#]|\d{1,9}[.)]|`{3}|~{3})/;
/** Code and links contain periods that end no sentence. */
const opaque = /(`{1,3})[^`\n]{1,200}\1|\[[^[\]\n]{0,500}\]\([^()\n]{0,2000}\)/g;
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Splits a Markdown text that arrives in chunks into its blocks, which end at blank lines outside fenced code. */
export function createBlockReader() {
  let block = '';
  let line = '';
  let openFence: string | null = null;

  function endLine(): string[] {
    openFence = fenceAfter(openFence, line);
    block += line;
    const isEnd = openFence === null && line.trim() === '' && block.trim() !== '';
    line = '';
    if (!isEnd) return [];
    const whole = block;
    block = '';
    return [whole];
  }

  return {
    /** Accepts more text and returns the blocks that are complete, with the blank lines that follow them. */
    push(text: string): string[] {
      return text.split(/(?<=\n)/).flatMap((part) => {
        line += part;
        return part.endsWith('\n') ? endLine() : [];
      });
    },
    /** Returns the rest at the end of the text; empty when there is none. */
    flush(): string {
      const rest = block + line;
      block = '';
      line = '';
      return rest;
    },
  };
}

/** Returns the mark of the code fence that is open after a line; null when none is. */
function fenceAfter(open: string | null, line: string): string | null {
  const mark = fence.exec(line)?.[1] ?? null;
  if (open === null) return mark;
  return mark !== null && mark.startsWith(open) && line.trim().endsWith(mark) ? null : open;
}

/** Returns the lines of a block. Together they are its text. */
export function linesOf(block: string): Line[] {
  const lines: Line[] = [];
  let open: string | null = null;
  for (const text of block.split(/(?<=\n)/)) {
    const last = lines.at(-1);
    const wasOpen = open !== null;
    open = fenceAfter(open, text);
    if (wasOpen && last !== undefined) last.text += text;
    else if (open !== null) lines.push({ kind: 'code', text });
    else if (row.test(text)) lines.push({ kind: 'row', text });
    else if (last?.kind === 'sentences' && !beginning.test(text)) last.text += text;
    else lines.push({ kind: 'sentences', text });
  }
  return lines;
}

/** Returns the sentences of a line, with the spaces that follow them; code and a row of a table are one. */
export function sentencesOf({ kind, text }: Line): string[] {
  if (kind !== 'sentences') return [text];
  const plain = text.replace(opaque, (part) => 'X'.repeat(part.length)).replace(/\n(?!$)/g, ' ');
  return [...segmenter.segment(plain)].map(({ segment, index }) => text.slice(index, index + segment.length));
}

/** Returns the marker of a list item or quotation at the start of a line. */
export function markerOf(text: string): string {
  return marker.exec(text)?.[0] ?? '';
}
