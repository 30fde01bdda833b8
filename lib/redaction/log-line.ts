/** Unicode line ends, and the control characters that JSON leaves unescaped: terminals act on some of them. */
const unescaped = /[\u007f-\u009f\u2028\u2029]/g;
/** Also matches characters that change the writing direction, because they display words in another order. */
const controls = /(?!\t)[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Returns a filter for JSON log lines: it redacts secrets and keeps each line a single line of plain text. */
export function createLineScrubber(redact: (text: string) => string): (line: string) => string {
  return (line) => redact(line).replaceAll(unescaped, escaped);
}

/** Returns a text as one line that cannot control a terminal: control characters are spelled out. */
export function asOneLine(text: string): string {
  return text.replaceAll(controls, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
