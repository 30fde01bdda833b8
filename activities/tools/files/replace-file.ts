import { parseNote } from '../edit/parse-note.ts';
import {
  decodeText,
  encodeText,
  etagOf,
  foreignCharacter,
  lineEndingsOf,
  type LineEndings,
  type TextFile,
} from '../edit/text-file.ts';
import { countText } from '../tool-output.ts';
import { parseAgentPath } from './agent-path.ts';

export interface ReplaceTask {
  path: string;
  /** Null for a new file. */
  before: Uint8Array | null;
  content: string;
}

/** The bytes to write, null when the file already has them, with the answer for the model. */
export interface ReplacedFile {
  bytes: Uint8Array | null;
  answer: string;
}

/** Returns the bytes of a file that gets a new content. Pure: for a large file it runs in a thread. */
export function replaceFile({ path, before: old, content }: ReplaceTask): ReplacedFile {
  const target = parseAgentPath(path);
  const { shown } = target;
  const before = old === null ? null : Buffer.from(old.buffer, old.byteOffset, old.byteLength);
  const file = before === null ? null : decodeText(before);
  const { text, bytes, note } = inFormOf(file, content);
  if (before?.equals(bytes) === true)
    return { bytes: null, answer: `${shown} already has exactly this content; nothing was changed.` };
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
  const verb = before === null ? 'Created' : 'Replaced';
  const parsed = parseNote(target, { before: file?.text ?? null, after: text });
  return { bytes, answer: `${verb} ${shown} (${countText(lines, 'line')}, etag ${etagOf(bytes)}).${note}${parsed}` };
}

/** Gives content the CRLF line endings, the final newline, the encoding and the byte order mark of the file it replaces. */
function inFormOf(file: TextFile | null, content: string): { text: string; bytes: Buffer; note: string } {
  const hasBom = content.startsWith('\ufeff');
  const given = hasBom ? content.slice(1) : content;
  const losesFinalNewline = file !== null && file.text.endsWith('\n') && /[^\n]$/.test(given);
  const plain = losesFinalNewline ? `${given}${given.includes('\r\n') ? '\r\n' : '\n'}` : given;
  const endings = file === null ? 'none' : lineEndingsOf(file.text);
  const text = endings === 'CRLF' && !plain.includes('\r\n') ? plain.replaceAll('\n', '\r\n') : plain;
  const foreign = file === null ? null : foreignCharacter(file, text);
  const encoding = foreign === null ? (file?.encoding ?? 'utf8') : 'utf8';
  const bytes = encodeText(text, { hasBom: hasBom || file?.hasBom === true, encoding });
  return { text, bytes, note: changeNote(endings, lineEndingsOf(text)) + encodingNote(foreign) };
}

function changeNote(before: LineEndings, after: LineEndings): string {
  if (before === after || before === 'none' || after === 'none') return '';
  return `\nIts line endings were ${before} and are ${after} now.`;
}

function encodingNote(foreign: string | null): string {
  return foreign === null ? '' : `\nThe file was not UTF-8 and could not hold "${foreign}"; it is UTF-8 now.`;
}
