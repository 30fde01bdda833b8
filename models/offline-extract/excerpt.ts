import { isItem, textOf, unitsOf } from './blocks.ts';
import type { Block, Unit } from './blocks.ts';
import { overlapOf } from './terms.ts';

/** Length of an excerpt. An example is always quoted whole, because half of one is useless. */
const excerptLength = 2000;
/** Minimum score of a block, relative to the best one, for the excerpt to start with it. */
const nearBest = 0.6;

/** Returns the part of a passage most relevant to the question, in the passage's own words and order. */
export function excerptOf(markdown: string, terms: Set<string>): string {
  const units = unitsOf(markdown);
  if (lengthOf(units) <= excerptLength) return units.map(({ blocks }) => textOf(blocks)).join('\n\n');
  const start = startOf(units, terms);
  const quoted: string[] = [];
  let left = excerptLength;
  for (const unit of units.slice(start)) {
    const length = lengthOf([unit]);
    if (quoted.length > 0 && length > left) break;
    quoted.push(textOf(length > excerptLength ? shortened(unit.blocks, terms) : unit.blocks));
    left -= length;
  }
  return quoted.join('\n\n');
}

/** Returns the first unit of the excerpt: the best one, or an earlier one if those in between are relevant, too. */
function startOf(units: Unit[], terms: Set<string>): number {
  const scores = units.map(({ blocks }) => overlapOf(terms, textOf(blocks)));
  const best = Math.max(...scores);
  let start = scores.indexOf(best);
  for (let before = start - 1; before >= 0 && lengthOf(units.slice(before, start + 1)) <= excerptLength; before -= 1) {
    const isStep = units[before]?.isTitled === true && units[before + 1]?.isTitled === true;
    if (!isStep && (scores[before] ?? 0) < best * nearBest) break;
    start = before;
  }
  return start;
}

function lengthOf(units: Unit[]): number {
  return units.flatMap(({ blocks }) => blocks).reduce((sum, { text }) => sum + text.length, 0);
}

/** Shortens a single long unit. Code stays whole; lists and tables start at the best line and end after a whole one. */
function shortened(blocks: Block[], terms: Set<string>): Block[] {
  let left = excerptLength;
  const kept: Block[] = [];
  for (const block of blocks) {
    if (left <= 0) break;
    const isWhole = block.isCode || block.text.length <= left;
    const text = isWhole ? block.text : cutLines(block.text, terms, left);
    if (text !== '') kept.push({ ...block, text });
    left -= text.length;
  }
  return kept;
}

function cutLines(text: string, terms: Set<string>, length: number): string {
  const lines = text.split('\n');
  if (lines.length < 3) return cutText(text, length);
  const isTable = /^\s*\|/u.test(lines[0] ?? '') && /^[\s:|-]+$/u.test(lines[1] ?? '');
  if (isTable) {
    const [head, rows] = [lines.slice(0, 2), lines.slice(2)];
    const kept = linesWithin(rows, { first: bestLine(rows, terms), length: length - head.join('\n').length });
    return [...head, ...kept].join('\n');
  }
  const isNumbered = /^\s*\d/u.test(lines[0] ?? '');
  const best = isNumbered ? 0 : itemOf(lines, bestLine(lines, terms));
  const first = fits(lines.slice(0, best + 1), length) ? 0 : best;
  const kept = linesWithin(lines, { first, length });
  if (kept.length === 0) return cutText(lines[first] ?? '', length);
  const isLast = first + kept.length === lines.length;
  return [...(first > 0 ? ['…\n'] : []), ...kept, ...(isLast ? [] : ['\n…'])].join('\n');
}

function bestLine(lines: string[], terms: Set<string>): number {
  const scores = lines.map((line) => overlapOf(terms, line));
  return scores.indexOf(Math.max(...scores));
}

/** Returns the first line of the item that a line belongs to; 0 outside a list. */
function itemOf(lines: string[], at: number): number {
  let first = at;
  while (first > 0 && !/^\S/u.test(lines[first] ?? '')) first -= 1;
  return isItem(lines[first] ?? '') ? first : 0;
}

function linesWithin(lines: string[], { first, length }: { first: number; length: number }): string[] {
  const kept: string[] = [];
  let left = length;
  for (const line of lines.slice(first)) {
    left -= line.length + 1;
    if (left < 0) break;
    kept.push(line);
  }
  return kept;
}

function fits(lines: string[], length: number): boolean {
  return lines.reduce((sum, line) => sum + line.length + 1, 0) <= length;
}

function cutText(text: string, length: number): string {
  const start = text.slice(0, length);
  const sentence = Math.max(start.lastIndexOf('. '), start.lastIndexOf('。'));
  if (sentence > length / 2) return `${start.slice(0, sentence + 1)} …`;
  const space = start.lastIndexOf(' ');
  return `${space > 0 ? start.slice(0, space) : start.replace(/[\uD800-\uDBFF]$/u, '')} …`;
}
