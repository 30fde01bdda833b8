import { parseNote } from '../edit/parse-note.ts';
import { decodeText, encodeText, etagOf, lineEndingsOf } from '../edit/text-file.ts';
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
  const { text, bytes } = inFormOf(before, content);
  if (before?.equals(bytes) === true)
    return { bytes: null, answer: `${shown} already has exactly this content; nothing was changed.` };
  const lines = text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
  const verb = before === null ? 'Created' : 'Replaced';
  const note = parseNote(target, { before: before === null ? null : before.toString('utf8'), after: text });
  return { bytes, answer: `${verb} ${shown} (${countText(lines, 'line')}, etag ${etagOf(bytes)}).${note}` };
}

/** Converts content with LF to the CRLF line endings and the byte order mark of the file it replaces. */
function inFormOf(before: Buffer | null, content: string): { text: string; bytes: Buffer } {
  const file = before === null ? null : decodeText(before);
  const hasBom = content.startsWith('\ufeff');
  const plain = hasBom ? content.slice(1) : content;
  const isCrlf = file !== null && lineEndingsOf(file.text) === 'CRLF' && !plain.includes('\r\n');
  const text = isCrlf ? plain.replaceAll('\n', '\r\n') : plain;
  return { text, bytes: encodeText(text, { hasBom: hasBom || file?.hasBom === true, encoding: 'utf8' }) };
}
