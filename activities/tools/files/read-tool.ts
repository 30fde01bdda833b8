import { z } from 'zod';
import { parseAgentPath } from './agent-path.ts';
import { defineTool } from '../define-tool.ts';
import { readThroughLinks } from './files.ts';
import { decodeText, etagOf, lineEndingsOf, type TextFile } from '../edit/text-file.ts';
import { countText, cutToBytes, MAX_OUTPUT_BYTES, numberedLines, sizeText } from '../tool-output.ts';
import { ToolProblem } from '../tool-problem.ts';

const MAX_LINES = 2_000;
/** Leaves room for the heading and the note at the end. */
const WINDOW_BYTES = MAX_OUTPUT_BYTES - 1_500;

const inputSchema = z.object({
  path: z.string().describe('File, relative to the root of the repository, e.g. "src/main.ts"'),
  offset: z.int().min(1).optional().describe('First line to show, from 1 (default 1)'),
  limit: z.int().min(1).optional().describe(`Number of lines to show (at most and by default ${MAX_LINES})`),
});

export const readTool = defineTool({
  description:
    'Reads a text file. The first line names its size, etag, line endings and whether it has tabs; each line after it ' +
    'is a line number, a bar, and the exact text of the file. Pass the etag to edit or write to make sure ' +
    'that the file has not changed since.',
  inputSchema,
  isReadOnly: true,
  async run({ path, offset = 1, limit = MAX_LINES }, { root }) {
    const target = parseAgentPath(path);
    const bytes = await readThroughLinks(root, target);
    const file = decodeText(bytes);
    if (file === null) throw new ToolProblem(`${target.shown} is a binary file (${sizeText(bytes.length)}).`);
    const lines = linesOf(file.text);
    const heading = `${target.shown} (${headingOf(file, { bytes, lines: lines.length })})`;
    if (lines.length === 0) return `${heading}\nThe file is empty.`;
    if (offset > lines.length) {
      throw new ToolProblem(
        `${target.shown} has only ${countText(lines.length, 'line')}; offset ${offset} is past its end.`,
      );
    }
    return `${heading}\n${windowOf(lines, offset, Math.min(limit, MAX_LINES))}`;
  },
});

function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function headingOf(file: TextFile, { bytes, lines }: { bytes: Buffer; lines: number }): string {
  const facts = [countText(lines, 'line'), sizeText(bytes.length), `etag ${etagOf(bytes)}`];
  const endings = lineEndingsOf(file.text);
  if (endings !== 'none')
    facts.push(endings === 'mixed' ? 'mixed LF and CRLF line endings' : `${endings} line endings`);
  if (file.text.includes('\t')) facts.push('has tabs');
  if (file.hasBom) facts.push('byte order mark');
  if (file.text !== '' && !file.text.endsWith('\n')) facts.push('no newline at the end');
  if (file.encoding === 'latin1') facts.push('not UTF-8, shown as Latin-1');
  return facts.join(', ');
}

function windowOf(lines: string[], offset: number, limit: number): string {
  const shown: string[] = [];
  let bytes = 0;
  for (const line of lines.slice(offset - 1, offset - 1 + limit)) {
    bytes += Buffer.byteLength(line) + 8;
    if (bytes > WINDOW_BYTES) break;
    shown.push(line);
  }
  const first = lines[offset - 1] ?? '';
  if (shown.length === 0) {
    const cut = numberedLines([cutToBytes(first, WINDOW_BYTES - 8)], offset);
    return `${cut}\n[Line ${offset} is longer than one answer holds (${sizeText(Buffer.byteLength(first))}) and is cut here.]`;
  }
  const next = offset + shown.length;
  const rest = lines.length - next + 1;
  const note = rest > 0 ? `\n[${countText(rest, 'more line')}; continue with offset ${next}.]` : '';
  return numberedLines(shown, offset) + note;
}
