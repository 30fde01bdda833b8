import { unspaced } from '../build/unspaced.ts';

/** Reports whether a text contains a fact, other than as a part of a longer word or number. */
export function statesFact(text: string, fact: string): boolean {
  return containsFact(normalized(text), normalized(fact));
}

/** Spaces, escapes and thousands separators differ between a page and what is said about it. */
export function normalized(text: string): string {
  return text
    .toLowerCase()
    .replace(/(?<=\d)[,\u00a0\u202f](?=\d{3})/g, '')
    .replace(/[\\`]+/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

const letterOrNumber = /[\p{L}\p{N}]/u;

/**
 * Reports whether a normalized text contains a normalized fact, other than as a part of a longer word or number. In
 * scripts without spaces, such as Chinese, a word may begin right after a letter.
 */
export function containsFact(text: string, fact: string): boolean {
  // code that consists of escapes is empty here; a plain search rules out most texts, and is faster than a pattern
  return fact === '' || (text.includes(fact) && containsPattern(text, fact.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')));
}

/** Reports whether a text contains what a pattern matches, other than as a part of a longer word or number. */
export function containsPattern(text: string, pattern: string): boolean {
  // a pattern with look-around for letters of all scripts takes a millisecond to compile, for each fact
  for (const { 0: found, index } of text.matchAll(new RegExp(`(?<!\\w)${pattern}(?!\\w)`, 'g')))
    if (!isOfWord(text.charAt(index - 1)) && !isOfWord(text.charAt(index + found.length))) return true;
  return false;
}

function isOfWord(character: string): boolean {
  return letterOrNumber.test(character) && !unspaced.test(character);
}
