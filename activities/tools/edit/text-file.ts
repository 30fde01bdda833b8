import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';

/** Larger files are neither read nor written. */
export const maxFileBytes = 10 * 1024 * 1024;

const byteOrderMark = '\ufeff';

/** A decoded text file that can be encoded again byte by byte. */
export interface TextFile {
  /** The text without the byte order mark. */
  text: string;
  hasBom: boolean;
  /** Anything that is not UTF-8 is decoded as Latin-1, which maps every byte to one character and back. */
  encoding: 'utf8' | 'latin1';
}

export type LineEndings = 'none' | 'LF' | 'CRLF' | 'mixed';

/** Decodes a file; null for a binary one, which contains a NUL. */
export function decodeText(bytes: Buffer): TextFile | null {
  if (bytes.includes(0)) return null;
  if (!isUtf8(bytes)) return { text: bytes.toString('latin1'), hasBom: false, encoding: 'latin1' };
  const text = bytes.toString('utf8');
  const hasBom = text.startsWith(byteOrderMark);
  return { text: hasBom ? text.slice(1) : text, hasBom, encoding: 'utf8' };
}

/** Encodes an edited text as its file was: with its encoding and byte order mark. */
export function encodeText(text: string, { hasBom, encoding }: Pick<TextFile, 'hasBom' | 'encoding'>): Buffer {
  return Buffer.from(hasBom ? byteOrderMark + text : text, encoding);
}

/** Returns the hash that git gives a file with these bytes, so that equal content has the same etag everywhere. */
export function etagOf(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

export function lineEndingsOf(text: string): LineEndings {
  const hasCrlf = text.includes('\r\n');
  const hasLf = /(?<!\r)\n/.test(text);
  if (hasCrlf && hasLf) return 'mixed';
  if (hasCrlf) return 'CRLF';
  return hasLf ? 'LF' : 'none';
}

/** Returns the number of the line at an offset; the first line is 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
