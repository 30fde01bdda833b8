const escape = '\u001b';
const bell = '\u0007';
/**
 * Matches CSI, OSC and the other control strings, and escapes of one character. An unterminated one has a maximum
 * length.
 */
const escapes = new RegExp(
  [
    `(?:${escape}\\[|\u009b)[0-?]{0,100}[ -/]{0,10}[@-~]`,
    `(?:${escape}[\\]PX^_]|[\u0090\u0098\u009d-\u009f])[^${bell}${escape}\u009c]{0,4000}(?:${bell}|${escape}\\\\|\u009c)?`,
    `${escape}[ -/]{0,10}[0-~]?`,
  ].join('|'),
  'g',
);
/** Matches control characters without a visible effect, except line feed and tab. */
const invisible = /[^\P{Cc}\n\t]|[\u2028\u2029]/gu;
const misleading = /\p{Bidi_Control}/gu;

/**
 * Returns what a terminal would have shown of a command's output, as plain text: without escape sequences and control
 * characters, with the final text of lines that were overwritten, and with a mark for characters that change the
 * direction of text. Broken UTF-8 becomes U+FFFD.
 */
export function cleanOutput(output: Buffer): string {
  const text = output.toString('utf8').replaceAll(escapes, '');
  return text
    .split('\n')
    .map((line) => backspaced(overwritten(line)))
    .join('\n')
    .replaceAll(invisible, '')
    .replaceAll(misleading, (character) => `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}>`);
}

/** A progress bar returns to the start of its line; only its last text is kept. */
function overwritten(line: string): string {
  const text = line.replace(/(?<!\r)\r+$/, '');
  return text.slice(text.lastIndexOf('\r') + 1);
}

function backspaced(line: string): string {
  if (!line.includes('\b')) return line;
  const characters: string[] = [];
  for (const character of line) {
    if (character === '\b') characters.pop();
    else characters.push(character);
  }
  return characters.join('');
}

/**
 * Returns the beginning and the end of a long text, cut between lines where possible, with a note of what is omitted.
 */
export function headAndTail(
  text: string,
  { headLength, tailLength }: { headLength: number; tailLength: number },
): string {
  if (text.length <= headLength + tailLength) return text;
  const begin = headOf(text, headLength);
  const end = tailOf(text, tailLength);
  const left = text.length - begin.length - end.length;
  return `${begin.replace(/\n?$/, '\n')}[… ${left} characters omitted …]\n${end}`;
}

/** Returns the beginning of a text, cut between lines where possible: half a secret would not be masked. */
export function headOf(text: string, length: number): string {
  const head = text.slice(0, length);
  return head.slice(0, head.lastIndexOf('\n') + 1) || head;
}

/** Returns the end of a text, cut between lines where possible. */
export function tailOf(text: string, length: number): string {
  const tail = text.slice(-length);
  return tail.slice(tail.indexOf('\n') + 1) || tail;
}
