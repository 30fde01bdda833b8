/** Reports whether a text contains a fact, other than as a part of a longer word or number. */
export function statesFact(text: string, fact: string): boolean {
  return patternOf(fact).test(normalized(text));
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

/** Returns a pattern that finds a fact in a normalized text, other than as a part of a longer word or number. */
export function patternOf(fact: string): RegExp {
  const escaped = normalized(fact).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'u');
}
