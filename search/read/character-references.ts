import { decodeString } from 'micromark-util-decode-string';

/** An escaped ampersand does not start a reference. */
const escaped = /\\[!-/:-@[-`{-~]/;
const reference = /&(?:#(?:\d{1,7}|x[\da-f]{1,6})|[a-z][\da-z]{1,30});/gi;
const escapedOrReference = new RegExp(`${escaped.source}|${reference.source}`, 'gi');
/** Marks of Markdown anywhere in a line, and only at its start. */
const mark = /[\\`*[\]|~]/;
const startingMark = /[#>+=-]/;
/** In plain Markdown, tags are kept as they are. */
const tag = /(<\/?[A-Za-z][^<>]{0,300}>)/;

/**
 * Decodes the character references of Markdown (`&lt;`, `&#39;`, `&nbsp;`). Markdown characters in the result are
 * escaped, so that they are not markup.
 */
export function decodeReferences(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(escapedOrReference, (whole, at: number) => {
    const decoded = whole.startsWith('&') ? decodedOf(whole) : whole;
    if (decoded === whole) return whole;
    const after = text.charAt(at + whole.length);
    const isMark =
      mark.test(decoded) ||
      (decoded === '<' && /[a-z/!?&]/i.test(after)) ||
      (decoded === '&' && /[a-z#]/i.test(after)) ||
      (startingMark.test(decoded) && /(?:^|\n)[ \t]*$/.test(text.slice(Math.max(0, at - 20), at)));
    return isMark ? `\\${decoded}` : decoded;
  });
}

/** Decodes the character references of an attribute. */
export function decodeAttribute(value: string): string {
  return value.includes('&') ? value.replace(reference, decodedOf) : value;
}

/** Decodes the character references of plain Markdown, outside of tags. */
export function decodeOutsideTags(text: string): string {
  if (!text.includes('&')) return text;
  return text
    .split(tag)
    .map((part, at) => (at % 2 === 1 ? part : decodeReferences(part)))
    .join('');
}

/** A line break would end the attribute's line. */
function decodedOf(text: string): string {
  return decodeString(text).replace(/[\r\n\t]/g, ' ');
}
