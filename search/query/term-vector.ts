import type { ChunkTerms } from '../build/analyse-chunk.ts';

/** The terms of a passage as numbers, so that ranking does not analyze its text again. */
export interface TermVector {
  title: Int32Array;
  headings: Int32Array;
  body: Int32Array;
  code: Int32Array;
}

/** Returns a term as a 32-bit number (FNV-1a). */
export function hashTerm(term: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < term.length; at++) hash = Math.imul(hash ^ term.charCodeAt(at), 0x01000193);
  return hash | 0;
}

export function packTerms({ title, headings, body, code }: ChunkTerms): Uint8Array {
  const values = Int32Array.from([
    title.length,
    headings.length,
    body.length,
    ...[title, headings, body, code].flatMap((terms) => terms.map(hashTerm)),
  ]);
  return new Uint8Array(values.buffer);
}

export function unpackTerms(bytes: Uint8Array): TermVector {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes);
  const values = new Int32Array(aligned.buffer, aligned.byteOffset, Math.floor(aligned.byteLength / 4));
  const title = 3 + (values[0] ?? 0);
  const headings = title + (values[1] ?? 0);
  const body = headings + (values[2] ?? 0);
  return {
    title: values.subarray(3, title),
    headings: values.subarray(title, headings),
    body: values.subarray(headings, body),
    code: values.subarray(body),
  };
}

/** Returns a hash of a passage's title, headings and prose. */
export function hashProse({ title, headings, body }: TermVector): number {
  let hash = 0;
  for (const terms of [title, headings, body]) for (const term of terms) hash = Math.imul(hash, 31) + term;
  return hash | 0;
}
