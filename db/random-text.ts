import { randomInt } from 'node:crypto';

/** Returns characters drawn evenly from an alphabet. `randomInt` draws the bytes of many calls at once. */
export function randomText(alphabet: string, length: number): string {
  let text = '';
  while (text.length < length) text += alphabet.charAt(randomInt(alphabet.length));
  return text;
}
