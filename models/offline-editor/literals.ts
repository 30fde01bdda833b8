/** Each opening mark with the marks that close it. Word processors turn straight quotes into any of these pairs. */
const pairs = ['""', "''", '``', '“”“"', '””', '„“”"', '‘’', '’’', '«»', '»«'];

export const quotationMarks = pairs.map((pair) => pair.charAt(0)).join('');

/** An apostrophe within a word, as in “don’t”, closes nothing. */
const apostrophe = "(?<=[\\p{L}\\p{N}])['’](?=[\\p{L}\\p{N}])";

/** Matches a quoted text. Its parts exclude each other, so that a text without a closing mark fails in linear time. */
export const quotedPattern = pairs
  .map((pair) => {
    const closing = pair.slice(1);
    const inner = /['’]/u.test(closing) ? `(?=${closing})${apostrophe}|` : '';
    return `${pair.charAt(0)}(?:\\\\[^]|${inner}[^\\\\${closing}])*(?!${apostrophe})[${closing}]`;
  })
  .join('|');
const quoted = new RegExp(quotedPattern, 'uy');

/** Returns the end of the quoted text that begins at `start`; null when none begins there or it is never closed. */
export function endOfQuoted(text: string, start: number): number | null {
  quoted.lastIndex = start;
  return quoted.test(text) ? quoted.lastIndex : null;
}

const controls: Record<string, string> = { n: '\n', r: '\r', t: '\t' };

/** Returns the content of a text that may be quoted. */
export function unquote(text: string): string {
  if (!quotationMarks.includes(text.charAt(0))) return text;
  return text.slice(1, -1).replace(/\\([^])/gu, (escaped, character: string) => {
    return controls[character] ?? (`\\${quotationMarks}`.includes(character) ? character : escaped);
  });
}

/** Quotes a text so that `unquote` returns it unchanged. */
export function quote(text: string): string {
  const escaped = text.replace(/[\\"]/gu, '\\$&');
  return `"${Object.entries(controls).reduce((line, [name, control]) => line.replaceAll(control, `\\${name}`), escaped)}"`;
}

/** Returns a text as one line of at most `length` characters; no character is cut in half. */
export function cut(text: string, length: number): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}
