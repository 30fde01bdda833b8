/** The named character references that answers use; the full list has 2,125 names and weighs more than the parser. */
const named: Record<string, string> = {
  amp: '&',
  apos: "'",
  bull: '•',
  copy: '©',
  deg: '°',
  gt: '>',
  hellip: '…',
  larr: '←',
  ldquo: '“',
  lsquo: '‘',
  lt: '<',
  mdash: '—',
  middot: '·',
  nbsp: '\u{A0}',
  ndash: '–',
  quot: '"',
  rarr: '→',
  rdquo: '”',
  reg: '®',
  rsquo: '’',
  times: '×',
  trade: '™',
};

/**
 * Decodes a named character reference; false when the name is unknown. The widget's bundle uses this instead of the
 * package `decode-named-character-reference`, whose browser version assigns to innerHTML.
 */
export function decodeNamedCharacterReference(name: string): string | false {
  return Object.hasOwn(named, name) ? (named[name] ?? false) : false;
}
