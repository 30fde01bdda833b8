import { overlapOf } from './terms.ts';

interface Block {
  text: string;
  isCode: boolean;
}

const opening = /^\s{0,3}(`{3,}|~{3,})/u;

/** The blocks of a Markdown text: fenced code whole, everything else by blank lines. A fence left open is closed. */
export function blocksOf(markdown: string): Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  let fence: string | null = null;
  function close(isCode: boolean) {
    const text = lines.join('\n');
    if (text.trim() !== '') blocks.push({ text, isCode });
    lines = [];
  }
  for (const line of markdown.split(/\r?\n/u)) {
    const mark = opening.exec(line)?.[1];
    if (fence !== null) {
      lines.push(line);
      if (mark === undefined || !mark.startsWith(fence) || line.trim() !== mark) continue;
      fence = null;
      close(true);
    } else if (mark !== undefined) {
      close(false);
      fence = mark;
      lines.push(line);
    } else if (line.trim() === '') {
      close(false);
    } else {
      lines.push(line);
    }
  }
  if (fence !== null) lines.push(fence);
  close(fence !== null);
  return blocks;
}

/** How much prose of a passage is quoted; code comes on top, because half of an example is worth nothing. */
const proseLength = 900;

/** The part of a passage that has most to do with the question, in the passage's own words and order. */
export function excerptOf(markdown: string, terms: Set<string>): string {
  const blocks = blocksOf(markdown);
  const scores = blocks.map(({ text }) => overlapOf(terms, text));
  const best = scores.indexOf(Math.max(...scores));
  let start = best;
  // What leads up to an example says what it is for.
  while (start > 0 && (blocks[start]?.isCode === true || isHeading(blocks[start - 1]))) start -= 1;
  const quoted: string[] = [];
  let length = 0;
  for (const block of wholeIsShort(blocks) ? blocks : blocks.slice(start)) {
    const isExample = block.isCode && quoted.length > 0;
    if (!isExample && length >= proseLength) break;
    quoted.push(block.isCode ? block.text : shortened(block.text));
    if (!block.isCode) length += block.text.length;
    else length += Math.min(block.text.length, proseLength / 3);
  }
  return quoted.join('\n\n');
}

function wholeIsShort(blocks: Block[]): boolean {
  return blocks.reduce((sum, { text }) => sum + text.length, 0) <= proseLength;
}

function isHeading(block: Block | undefined): boolean {
  return block !== undefined && !block.isCode && /^#{1,6}\s[^\n]*$/u.test(block.text);
}

/** Long lists and tables end after a whole line. */
function shortened(text: string): string {
  if (text.length <= proseLength * 1.5) return text;
  const end = text.lastIndexOf('\n', proseLength * 1.5);
  return end > 0 ? `${text.slice(0, end)}\n…` : `${cutAtSpace(text)} …`;
}

function cutAtSpace(text: string): string {
  const start = text.slice(0, proseLength * 1.5);
  const space = start.lastIndexOf(' ');
  return space > 0 ? start.slice(0, space) : start.replace(/[\uD800-\uDBFF]$/u, '');
}
