import { withLf } from './match-ladder.ts';

export interface NearRegion {
  line: number;
  lines: string[];
}

const maxRegions = 3;
const maxLines = 40;
/** Limit of the search in a long file; it only improves an error message. */
const maxSearchedCharacters = 1_000_000;

/** Returns the places of a text that share the most with a text that was not found. They are shown and never edited. */
export function nearestRegions(text: string, sought: string): NearRegion[] {
  const lines = withLf(text.slice(0, maxSearchedCharacters)).split('\n');
  const soughtLines = withLf(sought).trim().split('\n').slice(0, maxLines);
  const scores = lineScores(lines, new Set(soughtLines.flatMap(trigramsOf)));
  const height = Math.min(soughtLines.length, lines.length);
  const windows = windowScores(scores, height);
  const taken: number[] = [];
  const best = windows.map((score, line) => ({ score, line })).filter(({ score }) => score > 0);
  best.sort((left, right) => right.score - left.score || left.line - right.line);
  for (const { line } of best) {
    if (taken.length === maxRegions) break;
    if (taken.every((other) => Math.abs(other - line) >= height)) taken.push(line);
  }
  return taken.map((line) => ({ line: line + 1, lines: lines.slice(line, line + height) }));
}

/** Returns how much each line shares with the text; rare trigrams count more than common ones. */
function lineScores(lines: string[], sought: Set<string>): number[] {
  const counts = new Map<string, number>();
  const shared = lines.map((line) => {
    const found = new Set(trigramsOf(line).filter((trigram) => sought.has(trigram)));
    for (const trigram of found) counts.set(trigram, (counts.get(trigram) ?? 0) + 1);
    return found;
  });
  return shared.map((found) => [...found].reduce((score, trigram) => score + 1 / (counts.get(trigram) ?? 1), 0));
}

function windowScores(scores: number[], height: number): number[] {
  let sum = 0;
  const windows: number[] = [];
  for (const [line, score] of scores.entries()) {
    sum += score - (scores[line - height] ?? 0);
    // Sums of fractions drift, so a score whose parts have all been removed is reset.
    if (line >= height - 1) windows.push(sum > 1e-9 ? sum : 0);
  }
  return windows;
}

function trigramsOf(line: string): string[] {
  const plain = line.trim().replaceAll(/\s+/g, ' ').toLowerCase();
  if (plain.length < 3) return plain === '' ? [] : [plain];
  return Array.from({ length: plain.length - 2 }, (_, at) => plain.slice(at, at + 3));
}
