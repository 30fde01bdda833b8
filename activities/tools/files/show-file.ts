import { decodeText, etagOf, lineEndingsOf, type TextFile } from '../edit/text-file.ts';
import { countText, cutToBytes, maxOutputBytes, numberedLines, sizeText } from '../tool-output.ts';

/** Largest number of lines that one output shows. */
export const maxLines = 2_000;
/** Leaves room for the heading and the note at the end. */
const windowBytes = maxOutputBytes - 1_500;

export interface ShowTask {
  /** The path as outputs show it. */
  shown: string;
  bytes: Uint8Array;
  offset: number;
  limit: number;
}

export interface ShownFile {
  text: string;
}

/** Returns lines of a file in the model's format, or why there are none. Pure: for a large file it runs in a thread. */
export function showFile({ shown, bytes, offset, limit }: ShowTask): ShownFile | { problem: string } {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const file = decodeText(buffer);
  if (file === null) return { problem: `${shown} is a binary file (${sizeText(bytes.length)}).` };
  const lines = linesOf(file.text);
  const heading = `${shown} (${headingOf(file, { bytes: buffer, lines: lines.length })})`;
  if (lines.length === 0) return { text: `${heading}\nThe file is empty.` };
  if (offset > lines.length) {
    return {
      problem: `${shown} has only ${countText(lines.length, 'line')}; offset ${offset} is past its end.`,
    };
  }
  return { text: `${heading}\n${windowOf(lines, offset, Math.min(limit, maxLines))}` };
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function headingOf(file: TextFile, { bytes, lines }: { bytes: Buffer; lines: number }): string {
  const facts = [countText(lines, 'line'), sizeText(bytes.length), `etag ${etagOf(bytes)}`];
  const endings = lineEndingsOf(file.text);
  if (endings !== 'none') facts.push(`${endings} line endings`);
  if (file.text.includes('\t')) facts.push('has tabs');
  if (file.hasBom) facts.push('byte order mark');
  if (file.text !== '' && !file.text.endsWith('\n')) facts.push('no newline at the end');
  if (file.encoding.startsWith('utf16')) facts.push('UTF-16');
  if (file.encoding === 'latin1') facts.push('not UTF-8, shown as Latin-1');
  return facts.join(', ');
}

function windowOf(lines: string[], offset: number, limit: number): string {
  const shown: string[] = [];
  let bytes = 0;
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    bytes += Buffer.byteLength(line) + 8;
    if (bytes > windowBytes) break;
    shown.push(line);
  }
  const notes: string[] = [];
  if (shown.length === 0) {
    const first = lines[offset - 1] ?? '';
    shown.push(cutToBytes(first, windowBytes - 8));
    notes.push(
      `Line ${offset} is longer than one answer holds (${sizeText(Buffer.byteLength(first))}) and is cut here.`,
    );
  }
  const next = offset + shown.length;
  const rest = lines.length - next + 1;
  if (rest > 0) notes.push(`${countText(rest, 'more line')}; continue with offset ${next}.`);
  return numberedLines(shown, offset) + (notes.length === 0 ? '' : `\n[${notes.join(' ')}]`);
}
