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
  encoding: Encoding;
}

/**
 * UTF-16 is known by its byte order mark. Anything else that is not UTF-8 is decoded as Latin-1, which maps every byte to one
 * character and back.
 */
export type Encoding = 'utf8' | 'utf16le' | 'utf16be' | 'latin1';

export type LineEndings = 'none' | 'LF' | 'CRLF' | 'mixed LF and CRLF';

/** Decodes a file; null for a binary one, which contains a NUL. */
export function decodeText(bytes: Buffer): TextFile | null {
  const encoding = encodingOf(bytes);
  const decoded = encoding === 'utf16be' ? swapped(bytes).toString('utf16le') : bytes.toString(encoding);
  if (decoded.includes('\0')) return null;
  const hasBom = decoded.startsWith(byteOrderMark);
  return { text: hasBom ? decoded.slice(1) : decoded, hasBom, encoding };
}

/** Encodes an edited text as its file was: with its encoding and byte order mark. */
export function encodeText(text: string, { hasBom, encoding }: Pick<TextFile, 'hasBom' | 'encoding'>): Buffer {
  const whole = hasBom ? byteOrderMark + text : text;
  return encoding === 'utf16be' ? swapped(Buffer.from(whole, 'utf16le')) : Buffer.from(whole, encoding);
}

function encodingOf(bytes: Buffer): Encoding {
  if (isUtf8(bytes)) return 'utf8';
  if (bytes.length % 2 === 1) return 'latin1';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf16be' : 'latin1';
}

function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes).swap16();
}

/**
 * Returns a character of a text that a file cannot be trusted to hold; null if there is none. Only characters that the file
 * has already, and those of ASCII, have the same byte in every encoding that Latin-1 stands for.
 */
export function foreignCharacter({ text: own, encoding }: Pick<TextFile, 'text' | 'encoding'>, text: string) {
  if (encoding !== 'latin1') return null;
  return [...new Set(text)].find((character) => character > '\u007f' && !own.includes(character)) ?? null;
}

/** Returns the hash that git gives a file with these bytes, so that equal content has the same etag everywhere. */
export function etagOf(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

export function lineEndingsOf(text: string): LineEndings {
  const hasCrlf = text.includes('\r\n');
  const hasLf = /(?<!\r)\n/.test(text);
  if (hasCrlf && hasLf) return 'mixed LF and CRLF';
  if (hasCrlf) return 'CRLF';
  return hasLf ? 'LF' : 'none';
}

/** Returns the number of the line at an offset; the first line is 1. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
