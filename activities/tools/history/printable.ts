import { cutToBytes } from '../tool-output.ts';

/** Control characters except line feed, tab and carriage return, and characters that change the direction of text. */
const misleading = /[^\P{Cc}\n\t\r]|[\u2028\u2029\p{Bidi_Control}]/gu;

/** Returns the output of git as text, with spelled-out control characters, which authors of commits choose. */
export function printable(output: Buffer, maxBytes: number): string {
  const text = output.toString().replaceAll(misleading, (character) => {
    return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
  });
  return cutToBytes(text, maxBytes);
}
