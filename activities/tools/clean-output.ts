const escape = '\u001b';
const bell = '\u0007';
/** CSI; OSC and the other control strings; the escapes of one character. An unfinished one ends somewhere. */
const escapes = new RegExp(
  [
    `(?:${escape}\\[|\u009b)[0-?]{0,100}[ -/]{0,10}[@-~]`,
    `(?:${escape}[\\]PX^_]|[\u0090\u0098\u009d-\u009f])[^${bell}${escape}\u009c]{0,4000}(?:${bell}|${escape}\\\\|\u009c)?`,
    `${escape}[ -/]{0,10}[0-~]?`,
  ].join('|'),
  'g',
);
/** What moves nothing and shows nothing, but for line feed and tab. */
const invisible = /[^\P{Cc}\n\t]|[\u2028\u2029]/gu;
const misleading = /\p{Bidi_Control}/gu;

/**
 * What a terminal would have shown of the output of a command, as plain text: without escape sequences and control characters, with
 * what a line was overwritten with, and with a mark for what turns the direction of text round. Broken UTF-8 becomes U+FFFD.
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

/** A progress bar returns to the beginning of its line: what it said last stays. */
function overwritten(line: string): string {
  const text = line.replace(/\r+$/, '');
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

/** The beginning and the end of a long text, cut between lines where there are some, with a note of what is left out. */
export function headAndTail(
  text: string,
  { headLength, tailLength }: { headLength: number; tailLength: number },
): string {
  if (text.length <= headLength + tailLength) return text;
  const head = text.slice(0, headLength);
  const tail = text.slice(-tailLength);
  const begin = head.slice(0, head.lastIndexOf('\n') + 1) || head;
  const end = tail.slice(tail.indexOf('\n') + 1) || tail;
  const left = text.length - begin.length - end.length;
  return `${begin.replace(/\n?$/, '\n')}[… ${left} characters omitted …]\n${end}`;
}
