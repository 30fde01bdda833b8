/** Line ends of Unicode, and the control characters that JSON leaves as they are: a terminal obeys some of them. */
const unescaped = /[\u007f-\u009f\u2028\u2029]/g;
/** Changes of the direction of writing, too, because they show words in another order. */
const controls = /(?!\t)[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Makes what a line of JSON passes through before it is written: secrets are taken out, and it stays one line of plain text. */
export function createLineScrubber(redact: (text: string) => string): (line: string) => string {
  return (line) => redact(line).replaceAll(unescaped, escaped);
}

/** A text as one line that does nothing to a terminal; what it would have done is spelled out. */
export function asOneLine(text: string): string {
  return text.replaceAll(controls, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
