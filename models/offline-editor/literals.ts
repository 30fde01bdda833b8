/** Closing marks by opening mark. Word processors turn straight quotes into any of these pairs. */
const closings: Record<string, string> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '“': '”“"',
  '”': '”',
  '„': '“”"',
  '‘': '’',
  '’': '’',
  '«': '»',
  '»': '«',
};

export const quotationMarks = Object.keys(closings).join('');

/** An apostrophe within a word, as in “don’t”, closes nothing. */
const apostrophe = "(?<=[\\p{L}\\p{N}])['’](?=[\\p{L}\\p{N}])";

/** Matches a quoted text. Its parts exclude each other, so that a text without a closing mark fails in linear time. */
export const quotedPattern = Object.entries(closings)
  .map(([opening, closing]) => {
    const inner = /['’]/u.test(closing) ? `${apostrophe}|` : '';
    return `${opening}(?:\\\\[^]|${inner}[^\\\\${closing}])*(?!${apostrophe})[${closing}]`;
  })
  .join('|');
const quoted = new RegExp(quotedPattern, 'uy');

/** Returns the end of the quoted text that begins at `start`; null when none begins there or it is never closed. */
export function endOfQuoted(text: string, start: number): number | null {
  quoted.lastIndex = start;
  return quoted.test(text) ? quoted.lastIndex : null;
}

/** Returns the content of a text that may be quoted. */
export function unquote(text: string): string {
  if (closings[text.charAt(0)] === undefined) return text;
  return text.slice(1, -1).replace(/\\([^])/gu, (escaped, character: string) => {
    const control = { n: '\n', t: '\t', r: '\r' }[character];
    if (control !== undefined) return control;
    return character === '\\' || closings[character] !== undefined ? character : escaped;
  });
}

/** Quotes a text so that `unquote` returns it unchanged. */
export function quote(text: string): string {
  const escaped = text.replace(/[\\"\n\r\t]/gu, (character) => escapes[character] ?? character);
  return `"${escaped}"`;
}

const escapes: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Returns a text as one line of at most `length` characters; no character is cut in half. */
export function cut(text: string, length: number): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}
