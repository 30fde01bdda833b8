/** Shorter values are words, not secrets: replacing them would tear ordinary text apart. */
const shortestSecret = 6;
/** Of a long random secret, so many characters at either end are enough to know it by, when the rest was cut off. */
const knownPart = 12;
const longEnoughForParts = 2 * knownPart;
/** Parts of longer values, such as private keys, are no random text. */
const tooLongForParts = 400;
/** Of longer values, pieces from anywhere are looked for: see `createFragmentSearch`. */
export const longestPart = 100;

/** One way in which a secret can be written, without what may stand between its characters. */
export interface SecretForm {
  text: string;
  /** A part stands for all of the secret that follows it, or precedes it. */
  partOf?: { whole: string; end: 'head' | 'tail' };
}

/** What may be put between the characters of a secret: line breaks and blanks, real or escaped, and what begins a line in what tools and git say. */
export const gap = String.raw`(?:\n|\\n)(?: *\d+\||remote: )|\s|\\[nr]`;
const gaps = new RegExp(gap, 'g');

/** A text without what may be put between characters. */
export function compact(text: string): string {
  return text.replaceAll(gaps, '');
}

/** The ways in which a secret is looked for: plain, encoded, reversed, and cut off at either end. */
export function formsOf(secret: string): SecretForm[] {
  if (secret.length < shortestSecret) return [];
  const base64 = base64Cores(secret);
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const percent = encodeURIComponent(secret);
  const texts = [
    secret,
    percent,
    percent.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    hex.replaceAll(/../g, '%$&'),
    hex.toUpperCase().replaceAll(/../g, '%$&'),
    JSON.stringify(secret).slice(1, -1),
    Array.from(secret).toReversed().join(''),
    hex,
    hex.toUpperCase(),
    bytes.toString('base64'),
    bytes.toString('base64url'),
    ...base64,
    ...base64.map((core) => core.replaceAll('+', '-').replaceAll('/', '_')),
  ];
  const whole = [...new Set(texts.map(compact))].filter(({ length }) => length >= shortestSecret);
  return [...whole.map((text) => ({ text })), ...partsOf(compact(secret))];
}

function partsOf(whole: string): SecretForm[] {
  if (whole.length < longEnoughForParts || whole.length > tooLongForParts) return [];
  return [
    { text: whole.slice(0, knownPart), partOf: { whole, end: 'head' } },
    { text: whole.slice(-knownPart), partOf: { whole, end: 'tail' } },
  ];
}

/** What base64 makes of a text at each of the three places it can begin in a longer one, without the bordering digits. */
export function base64Cores(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].map((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    const encoded = padded.toString('base64');
    const from = Math.ceil((offset * 8) / 6);
    return encoded.slice(from, Math.floor((padded.length * 8) / 6));
  });
}
