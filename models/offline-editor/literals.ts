/** A parsed value, and the position at which parsing continues. */
export interface Read<Value> {
  value: Value;
  end: number;
}

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

const letter = /[\p{L}\p{N}]/u;

/** Reads a quoted text that begins at `start`; null when none begins there or it is never closed. */
export function readQuoted(text: string, start: number): Read<string> | null {
  const opening = text.charAt(start);
  const closing = closings[opening];
  if (closing === undefined) return null;
  let value = '';
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '\\') {
      value += unescaped(text.charAt(at + 1));
      at += 1;
    } else if (closing.includes(character) && !isApostrophe(text, at)) {
      return { value, end: at + 1 };
    } else {
      value += character;
    }
  }
  return null;
}

/** Quotes a text so that `readQuoted` returns it unchanged. */
export function quote(text: string): string {
  const escaped = text.replace(/[\\"\n\r\t]/gu, (character) => escapes[character] ?? character);
  return `"${escaped}"`;
}

const escapes: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function unescaped(character: string): string {
  const control = { n: '\n', t: '\t', r: '\r' }[character];
  if (control !== undefined) return control;
  return character === '\\' || closings[character] !== undefined ? character : `\\${character}`;
}

/** An apostrophe within a word, as in “don't”, closes nothing. */
function isApostrophe(text: string, at: number): boolean {
  const mark = text.charAt(at);
  return (mark === "'" || mark === '’') && letter.test(text.charAt(at - 1)) && letter.test(text.charAt(at + 1));
}

/** Returns a text as one line of at most `length` characters; no character is cut in half. */
export function cut(text: string, length: number): string {
  const line = text.replace(/\s+/gu, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/u, '')}…`;
}
