import { randomInt } from 'node:crypto';

export interface JsonLimits {
  /** Deepest accepted nesting. */
  maxDepth: number;
  maxValues: number;
}

/** Distinct field names, each of which costs as much time as ten values. A name with an escape counts each time. */
const maxNames = 2_000;
/** Random seed of the name hashes, so that a client cannot choose names that collide. */
const seed = randomInt(2 ** 31);
/** FNV-1a. */
const prime = 0x01000193;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
/** The only bit in which `[` differs from `{`, and `]` from `}`. */
const braceBit = 0x20;
const opening = 0x7b;
const closing = 0x7d;

/**
 * Returns a function that checks the bytes of a JSON text as they arrive. It returns an error as soon as the text is
 * nested too deep or has too many values or names, because the time to parse and validate grows with their number. The
 * bytes that matter are ASCII, so UTF-8 needs no decoding.
 */
export function createJsonScan({ maxDepth, maxValues }: JsonLimits): (chunk: Uint8Array) => string | null {
  let depth = 0;
  let values = 0;
  let hash = seed;
  let hasEscape = false;
  let escapedNames = 0;
  const names = new Set<number>();
  let isInString = false;
  let isEscaped = false;
  return (chunk) => {
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (isInString) {
        hash = Math.imul(hash ^ byte, prime);
        if (isEscaped) isEscaped = false;
        else if (byte === quote) isInString = false;
        else if (byte === backslash) isEscaped = hasEscape = true;
      } else if (byte === quote) {
        isInString = true;
        hash = seed;
        hasEscape = false;
      } else if (byte === colon) {
        if (hasEscape) escapedNames += 1;
        else names.add(hash);
      } else if (byte === comma) values += 1;
      else if ((byte | braceBit) === opening) {
        depth += 1;
        values += 1;
        if (depth > maxDepth) return `is nested deeper than ${maxDepth} levels`;
      } else if ((byte | braceBit) === closing) depth -= 1;
    }
    if (names.size + escapedNames > maxNames) return `has more than ${maxNames} different names`;
    return values > maxValues ? `holds more than ${maxValues} values` : null;
  };
}
