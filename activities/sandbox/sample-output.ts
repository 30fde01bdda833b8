import type { Readable } from 'node:stream';

/** The newest part of what a command has printed since the previous sample. */
export interface OutputSample {
  /** Bytes between the previous sample and this one that were dropped, because the command prints faster. */
  skipped: number;
  bytes: Uint8Array;
}

const everyMs = 100;
export const sampleBytes = 12 * 1024;

/** Samples a stream at a bounded rate and size, whatever a command prints. The last sample follows its end. */
export function sampleOutput(stream: Readable, onSample: (sample: OutputSample) => void): void {
  let chunks: Buffer[] = [];
  let length = 0;
  let skipped = 0;
  let timer: NodeJS.Timeout | null = null;

  /** Keeps the newest bytes; at most twice as many are held. */
  function trim(): void {
    const bytes = Buffer.concat(chunks).subarray(-sampleBytes);
    skipped += length - bytes.length;
    chunks = [bytes];
    length = bytes.length;
  }

  function flush(): void {
    timer = null;
    if (length === 0) return;
    trim();
    onSample({ skipped, bytes: Buffer.concat(chunks) });
    chunks = [];
    length = 0;
    skipped = 0;
  }

  stream.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > 2 * sampleBytes) trim();
    timer ??= setTimeout(flush, everyMs);
  });
  stream.on('close', () => {
    if (timer !== null) clearTimeout(timer);
    flush();
  });
}
