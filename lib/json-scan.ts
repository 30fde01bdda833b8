export interface JsonLimits {
  /** Levels within each other. */
  deepest: number;
  mostValues: number;
}

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
/** `[` and `{` as well as `]` and `}` differ in this bit alone. */
const braceBit = 0x20;
const opening = 0x7b;
const closing = 0x7d;

/**
 * Looks at the bytes of a JSON text as they arrive and answers what is wrong from the one on that nests too deep or begins one
 * value too many: parsing takes time by the number of values, validating even more. The bytes that matter are ASCII, so UTF-8
 * needs no decoding.
 */
export function createJsonScan({ deepest, mostValues }: JsonLimits): (chunk: Uint8Array) => string | null {
  let depth = 0;
  let values = 0;
  let isInString = false;
  let isEscaped = false;
  return (chunk) => {
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0;
      if (isEscaped) isEscaped = false;
      else if (isInString) {
        if (byte === quote) isInString = false;
        else if (byte === backslash) isEscaped = true;
      } else if (byte === quote) isInString = true;
      else if (byte === comma) values += 1;
      else if ((byte | braceBit) === opening) {
        depth += 1;
        values += 1;
        if (depth > deepest) return `is nested deeper than ${deepest} levels`;
      } else if ((byte | braceBit) === closing) depth -= 1;
    }
    return values > mostValues ? `holds more than ${mostValues} values` : null;
  };
}
