import { randomBytes } from 'node:crypto';

/** Returns characters drawn evenly from an alphabet of at most 256. */
export function randomText(alphabet: string, length: number): string {
  // bytes above the last whole multiple would favor the first characters
  const usable = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < usable && text.length < length) text += alphabet.charAt(byte % alphabet.length);
    }
  }
  return text;
}
