import { cutToBytes } from '../tool-output.ts';

/** Control characters except line feed, tab and carriage return, and characters that change the direction of text. */
const misleading = /[^\P{Cc}\n\t\r]|[\u2028\u2029\p{Bidi_Control}]/gu;

/** Returns the beginning of a text with spelled-out control characters, which authors of commits choose. */
export function printable(given: string, maxBytes: number): string {
  const text = given.replaceAll(misleading, (character) => {
    return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
  });
  return cutToBytes(text, maxBytes);
}
