import type { Readable } from 'node:stream';

/** Output of a command: its beginning and its end. */
export interface Captured {
  head: Buffer;
  tail: Buffer;
  /** Bytes omitted between `head` and `tail`. */
  omitted: number;
}

/**
 * Captures the first and the last `keepBytes` of a stream, and calls `onOverflow` once it exceeds `limitBytes`.
 * Everything in between is read and dropped.
 */
export function capture(
  stream: Readable,
  { keepBytes, limitBytes, onOverflow }: { keepBytes: number; limitBytes: number; onOverflow(): void },
): () => Captured {
  const head: Buffer[] = [];
  let tail: Buffer[] = [];
  let headBytes = 0;
  let tailBytes = 0;
  let total = 0;
  stream.on('error', () => undefined);
  stream.on('data', (chunk: Buffer) => {
    total += chunk.length;
    const first = chunk.subarray(0, keepBytes - headBytes);
    const rest = chunk.subarray(first.length);
    if (first.length > 0) head.push(first);
    headBytes += first.length;
    if (rest.length > 0) tail.push(rest);
    tailBytes += rest.length;
    if (tailBytes > 4 * keepBytes) {
      tail = [Buffer.concat(tail).subarray(-keepBytes)];
      tailBytes = keepBytes;
    }
    if (total > limitBytes) onOverflow();
  });
  return () => {
    const last = Buffer.concat(tail).subarray(-keepBytes);
    return { head: Buffer.concat(head), tail: last, omitted: total - headBytes - last.length };
  };
}
