export interface Block {
  text: string;
  isCode: boolean;
}

/** Blocks that make sense only together: a title or a lead-in with what follows it, a list with all of its items. */
export interface Unit {
  blocks: Block[];
  /** Whether it starts with a title, as a step does. */
  isTitled: boolean;
}

const opening = /^\s*(`{3,}|~{3,})/u;
const item = /^\s*(?:[-*+]|\d{1,9}[.)])\s/u;
const title = /^(?:\*\*[^*\n]{1,200}\*\*|#{1,6}\s[^\n]{0,300})$/u;

/**
 * Returns the blocks of a Markdown text: fenced code whole, everything else split at blank lines. An open fence is
 * closed.
 */
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

/** Groups the blocks of a passage into units. Omits pictures, rules, anchors and empty code. */
export function unitsOf(markdown: string): Unit[] {
  const units: Unit[] = [];
  let isWaiting = false;
  for (const block of blocksOf(markdown).map(cleaned)) {
    if (block.text.trim() === '') continue;
    const last = units.at(-1);
    const isTitle = !block.isCode && title.test(block.text.trim());
    if (last !== undefined && !isTitle && (isWaiting || isPartOfList(block, last))) last.blocks.push(block);
    else units.push({ blocks: [block], isTitled: isTitle });
    isWaiting = isTitle || (!block.isCode && /:(?:\*\*)?\s*$/u.test(block.text));
  }
  return units;
}

/** Joins the unchanged text of blocks. */
export function textOf(blocks: Block[]): string {
  return blocks.map(({ text }) => text).join('\n\n');
}

export function isItem(line: string): boolean {
  return item.test(line);
}

function isPartOfList(block: Block, unit: Unit): boolean {
  const last = unit.blocks.findLast(({ isCode }) => !isCode);
  if (last === undefined || !last.text.split('\n').some((line) => isItem(line))) return false;
  return /^(?: {2,}|\t)/u.test(block.text) || /^\d{1,9}[.)]\s/u.test(block.text);
}

function cleaned({ text, isCode }: Block): Block {
  if (isCode) return { text: /^\s*(?:`{3}|~{3})[^\n]*\n\s*(?:`{3,}|~{3,})\s*$/u.test(text) ? '' : text, isCode };
  const lines = text
    .split('\n')
    .map((line) =>
      line.replace(/<a id="[^"<]{0,300}"><\/a>/gu, '').replace(/!\[[^[\]]{0,500}\]\([^()\s]{0,500}\)/gu, ''),
    )
    .filter((line) => line.trim() !== '' && !/^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/u.test(line));
  return { text: lines.join('\n'), isCode };
}
