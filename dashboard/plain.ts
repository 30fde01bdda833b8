// what turns lines about, rings bells or moves a terminal's cursor; line breaks and tabs stay
const hidden = /[^\P{Cc}\t\n]|\p{Bidi_Control}/gu;

/** Makes hidden characters in untrusted text visible: control characters and changes of text direction. */
export function plain(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(hidden, (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** Returns a text as one line, cut between words with an ellipsis if it is too long for a heading. */
export function headline(text: string, maxLength = 160): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line.length <= maxLength) return line;
  const whole = line
    .slice(0, maxLength + 1)
    .replace(/ [^ ]*$/, '')
    .slice(0, maxLength);
  return `${whole.toWellFormed()}…`;
}

/** Returns the beginning of a text that is too long to show, and the number of characters left out. */
export function beginning(text: string, maxLength: number): { shown: string; left: number } {
  return text.length <= maxLength
    ? { shown: text, left: 0 }
    : { shown: text.slice(0, maxLength), left: text.length - maxLength };
}
