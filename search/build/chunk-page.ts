import { createAnchors } from '../read/anchors.ts';
import { explicitId, headingText, linesOf } from '../read/markdown-lines.ts';
import type { MarkdownLine } from '../read/markdown-lines.ts';

export interface Chunk {
  /** The passage is `content.slice(start, end)` of the page. */
  start: number;
  end: number;
  /** Text to repeat before and after it if a block was split: a fence, or the head of a table. */
  before: string;
  after: string;
  anchor: string | null;
  /** Headings from the page's top down to the passage. */
  headings: string[];
}

export interface ChunkedPage {
  chunks: Chunk[];
  /** Anchors in the page that links may point to. */
  anchors: string[];
}

interface Section extends Chunk {
  level: number;
  /** Ends of its paragraphs, where it may be split. */
  breaks: number[];
  blocks: Block[];
}

/** A fence or a table, and what its parts repeat when it is split. */
interface Block {
  start: number;
  end: number;
  before: string;
  after: string;
}

const wantedLength = 1200;
const maxChunkLength = 2000;
const tinySection = 80;
/** Longer code is split. */
const maxCodeLength = 6000;
const maxFrameLength = 600;
const maxLineLength = 10_000;
const maxChunks = 20_000;
const tableMark = /^ *(?:\| *)?(?::?-{2,}:? *\| *)+(?::?-{2,}:? *)?$/;
const setextMark = /^ {0,3}(=+|-{2,})[ \t]*$/;

/**
 * Splits a page at its headings; long sections are split at paragraphs, short ones joined with the next. A very long
 * page is truncated.
 */
export function chunkPage(content: string, title: string): ChunkedPage {
  const { sections, anchors } = sectionsOf(content, title);
  const chunks = joinTiny(content, sections)
    .slice(0, maxChunks)
    .flatMap((section) => splitLong(content, section))
    .slice(0, maxChunks);
  if (chunks.length === 0) chunks.push({ start: 0, end: 0, ...unframed, anchor: null, headings: [] });
  return { chunks, anchors: anchors.slice(0, maxChunks) };
}

function sectionsOf(content: string, title: string): { sections: Section[]; anchors: string[] } {
  const anchors = createAnchors();
  const path: { level: number; text: string }[] = [];
  let section: Section = {
    start: 0,
    end: 0,
    ...unframed,
    anchor: null,
    headings: [],
    level: 0,
    breaks: [],
    blocks: [],
  };
  const sections = [section];
  let before: MarkdownLine | null = null;
  let isInFence = false;
  for (const line of linesOf(content)) {
    const underline: number =
      before?.kind === 'text' && before.end - before.start <= 120 ? setextLevel(content, line) : 0;
    const level: number = line.level || underline;
    if (level > 0) {
      const headingLine = underline > 0 && before !== null ? before : line;
      const source = content.slice(headingLine.start, Math.min(headingLine.end, headingLine.start + 400));
      const text = headingText(source);
      for (const id of idsIn(source)) anchors.add(id);
      const anchor = anchors.take(text, explicitId(source));
      const isTitle =
        sections.length === 1 && content.slice(section.start, headingLine.start).trim() === '' && text === title;
      while ((path.at(-1)?.level ?? 0) >= level) path.pop();
      if (!isTitle) path.push({ level, text });
      section.end = headingLine.start;
      const headings = path.map((entry) => entry.text).filter((entry) => entry !== '');
      section = {
        start: line.end,
        end: 0,
        ...unframed,
        anchor: isTitle ? null : anchor,
        headings,
        level: isTitle ? 0 : level,
        breaks: [],
        blocks: [],
      };
      sections.push(section);
    } else if (line.kind === 'fence' || (line.kind === 'blank' && before?.kind !== 'blank')) {
      isInFence = line.kind === 'fence' && !isInFence;
      section.breaks.push(line.kind === 'blank' || isInFence ? line.start : line.end);
      if (isInFence) section.blocks.push(fenceAt(content, line));
      else if (line.kind === 'fence') endBlock(section.blocks, line);
    } else if (line.kind === 'text') {
      for (const id of idsIn(content.slice(line.start, Math.min(line.end, line.start + maxLineLength))))
        anchors.add(id);
      if (before?.kind === 'text') addTableRow(content, section.blocks, { line, before });
    }
    before = level > 0 ? null : line;
  }
  section.end = content.length;
  return { sections: sections.map((entry) => trimmed(content, entry)), anchors: anchors.all() };
}

const unframed = { before: '', after: '' };

function fenceAt(content: string, line: MarkdownLine): Block {
  const opening = content.slice(line.start, Math.min(line.end, line.start + maxFrameLength));
  const mark = /`{3,}|~{3,}/.exec(opening)?.[0] ?? '```';
  return { start: line.start, end: Infinity, before: `${opening}\n`, after: `\n${mark}` };
}

function endBlock(blocks: Block[], line: MarkdownLine): void {
  const open = blocks.at(-1);
  if (open !== undefined) open.end = line.end;
}

/** Extends the table that a line continues, or starts one when it reads the table's second line. */
function addTableRow(
  content: string,
  blocks: Block[],
  { line, before }: Record<'line' | 'before', MarkdownLine>,
): void {
  const last = blocks.at(-1);
  if (last?.end === before.end && last.after === '') {
    last.end = line.end;
  } else if (line.end - before.start <= maxFrameLength && tableMark.test(content.slice(line.start, line.end))) {
    blocks.push({
      start: before.start,
      end: line.end,
      before: `${content.slice(before.start, line.end)}\n`,
      after: '',
    });
  }
}

/** Returns a function that finds the block at or after a position. Positions never decrease, so that it is linear. */
function createBlockFinder(blocks: Block[]): (position: number) => Block | undefined {
  let first = 0;
  return (position) => {
    while ((blocks[first]?.end ?? Infinity) <= position) first++;
    return blocks[first];
  };
}

function setextLevel(content: string, line: MarkdownLine): number {
  if (line.kind !== 'text' || line.end - line.start > 200) return 0;
  const mark = setextMark.exec(content.slice(line.start, line.end))?.[1];
  return mark === undefined ? 0 : mark.startsWith('=') ? 1 : 2;
}

function idsIn(line: string): string[] {
  if (!line.includes('<') && !line.includes('{')) return [];
  const ids = line.matchAll(
    /\s(?:id|name)=["']?([^"'\s<>=]{1,200})["'\s>]|\{:?[ \t]*#([\w.:-]{1,200})[^{}\n]{0,200}\}/g,
  );
  return [...ids].map(([, inTag, inList]) => inTag ?? inList ?? '');
}

function trimmed<T extends Chunk>(content: string, chunk: T): T {
  let { start, end } = chunk;
  while (start < end && isBlank(content.charCodeAt(start))) start++;
  while (end > start && isBlank(content.charCodeAt(end - 1))) end--;
  return { ...chunk, start, end };
}

function isBlank(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}

/**
 * Joins a section of a few words with its first subsection. A section without text is dropped unless its heading has no
 * subsections either.
 */
function joinTiny(content: string, sections: Section[]): Section[] {
  const joined: Section[] = [];
  for (const section of sections) {
    const last = joined.at(-1);
    const length = last === undefined ? 0 : last.end - last.start;
    const fits = last !== undefined && section.end - last.start <= wantedLength && section.level > last.level;
    if (last !== undefined && fits && last.level > 0 && length > 0 && length < tinySection) {
      joined[joined.length - 1] = {
        ...section,
        start: last.start,
        breaks: [...last.breaks, last.end, ...section.breaks],
        blocks: [...last.blocks, ...section.blocks],
      };
      continue;
    }
    joined.push({ ...section });
  }
  return joined.filter(
    (section, at) => section.end > section.start || (section.headings.length > 0 && isLeaf(joined, at, content)),
  );
}

function isLeaf(sections: Section[], at: number, content: string): boolean {
  const next = sections[at + 1];
  return next === undefined ? content.length > 0 : next.level <= (sections[at]?.level ?? 0);
}

function splitLong(content: string, section: Section): Chunk[] {
  const { anchor, headings } = section;
  const blockAfter = createBlockFinder(section.blocks);
  const blockAt = (position: number) => {
    const block = blockAfter(position);
    return block !== undefined && block.start < position ? block : undefined;
  };
  const add = (end: number) => {
    const before = blockAt(start)?.before ?? '';
    parts.push(trimmed(content, { start, end, before, after: blockAt(end)?.after ?? '', anchor, headings }));
    start = end;
  };
  const parts: Chunk[] = [];
  let start = section.start;
  let nextBreak = 0;
  while (section.end - start > maxChunkLength) {
    let cut = start;
    for (; nextBreak < section.breaks.length; nextBreak++) {
      const at = section.breaks[nextBreak] ?? 0;
      if (at > start + maxChunkLength || (at > start + wantedLength && cut > start)) break;
      if (at > start && at < section.end) cut = at;
    }
    if (cut === start) cut = endOfCode(blockAfter(start), start) ?? cutWithin(content, start);
    add(cut);
  }
  add(section.end);
  return parts.filter((part, at) => part.end > part.start || (at === 0 && parts.length === 1));
}

/** Returns the end of a code block that is short enough to keep whole; null for any other block. */
function endOfCode(block: Block | undefined, start: number): number | null {
  const isNear = block !== undefined && block.after !== '' && block.start <= start + wantedLength;
  return isNear && block.end - start <= maxCodeLength ? block.end : null;
}

/** Splits a long paragraph after a line, else after a word, else anywhere between characters. */
function cutWithin(content: string, start: number): number {
  const latest = start + maxChunkLength;
  const window = content.slice(start, latest);
  const line = window.lastIndexOf('\n');
  if (line > wantedLength / 2) return start + line;
  const blank = window.lastIndexOf(' ');
  if (blank > wantedLength / 2) return start + blank;
  const code = content.charCodeAt(latest);
  return code >= 0xdc00 && code <= 0xdfff ? latest - 1 : latest;
}
