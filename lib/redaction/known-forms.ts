/** Shorter values are words, not secrets: redacting them would corrupt ordinary text. */
const minSecretLength = 6;
/** Number of characters at either end that still identify a long random secret when the rest is cut off. */
const knownPart = 12;
const longEnoughForParts = 2 * knownPart;
/** Longer values, such as private keys, begin and end with text that is not random. */
const tooLongForParts = 400;
/** For longer values, fragments from any position are searched for: see `createFragmentSearch`. */
export const maxPartLength = 100;

/** An encoding of a secret, without separators. */
export interface SecretForm {
  text: string;
  /** For a part: whether the rest of the secret follows it or precedes it. */
  partOf?: { whole: string; end: 'head' | 'tail' };
}

/**
 * Matches the separators that may appear within a secret: line breaks and blanks, real or escaped, and line prefixes in
 * the output of tools and git.
 */
export const gap = String.raw`(?:\n|\\n)(?: *\d+\||remote: )|\s|\\[nr]`;
const gaps = new RegExp(gap, 'g');

/** Returns a text without separators. */
export function compact(text: string): string {
  return text.replaceAll(gaps, '');
}

/** Returns the forms in which a secret is searched for: plain, encoded, reversed, and truncated at either end. */
export function formsOf(secret: string): SecretForm[] {
  if (secret.length < minSecretLength) return [];
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
  const whole = [...new Set(texts.map(compact))].filter(({ length }) => length >= minSecretLength);
  return [...whole.map((text) => ({ text })), ...partsOf(compact(secret))];
}

function partsOf(whole: string): SecretForm[] {
  if (whole.length < longEnoughForParts || whole.length > tooLongForParts) return [];
  return [
    { text: whole.slice(0, knownPart), partOf: { whole, end: 'head' } },
    { text: whole.slice(-knownPart), partOf: { whole, end: 'tail' } },
  ];
}

/**
 * Returns the base64 of a text at each of the three offsets at which it can begin in a longer one, without the
 * bordering digits.
 */
export function base64Cores(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].map((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    const encoded = padded.toString('base64');
    const from = Math.ceil((offset * 8) / 6);
    return encoded.slice(from, Math.floor((padded.length * 8) / 6));
  });
}
