import { randomFillSync } from 'node:crypto';

/** Random bytes that were not used yet: one call for many ids, because a call costs more than its bytes. */
const pool = Buffer.alloc(4096);
let used = pool.length;

function randomByte(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const byte = pool.readUInt8(used);
  pool[used] = 0;
  used += 1;
  return byte;
}

/** Returns characters drawn evenly from an alphabet of at most 256. */
export function randomText(alphabet: string, length: number): string {
  // bytes above the last whole multiple would favor the first characters
  const usable = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length) {
    const byte = randomByte();
    if (byte < usable) text += alphabet.charAt(byte % alphabet.length);
  }
  return text;
}
