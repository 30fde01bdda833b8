// what turns lines about, rings bells or moves a terminal's cursor; line breaks and tabs stay
// oxlint-disable-next-line no-control-regex -- these are what is made visible
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Foreign text with nothing hidden in it: control characters and changes of direction are shown as what they are. */
export function plain(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(hidden, (character) => `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}

/** The beginning of a text that is too long to be shown, and how much is left out. */
export function beginning(text: string, longest: number): { shown: string; left: number } {
  return text.length <= longest
    ? { shown: text, left: 0 }
    : { shown: text.slice(0, longest), left: text.length - longest };
}
