import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { PassThrough, type Readable, type Transform } from 'node:stream';
import { Parser, type ReadEntry } from 'tar';
import { ImageError } from './image-error.ts';

export interface ArchiveReading {
  source: Readable;
  decompress?: Transform;
  signal: AbortSignal;
  /** Called with each part of the decompressed archive before it is parsed; reading stops when it throws. */
  onChunk(chunk: Buffer): void;
  /** Called with one entry after another, whose data it may read. */
  onEntry(entry: ReadEntry): Promise<void>;
}

/** Starts of compressed files, which the parser would decompress without a limit. */
const compressed = ['1f8b', '28b52ffd', '425a68', 'fd377a58'].map((magic) => Buffer.from(magic, 'hex'));

/** Reads a tar archive. The parser skips what is damaged in it; only a hash shows that. */
export async function readArchive(reading: ArchiveReading): Promise<void> {
  const { source, decompress = new PassThrough(), signal, onChunk, onEntry } = reading;
  const { promise: end, resolve, reject } = Promise.withResolvers<void>();
  end.catch(() => undefined);
  const parser = new Parser();
  let last: Promise<void> = Promise.resolve();
  let current: ReadEntry | null = null;
  parser.on('entry', (entry: ReadEntry) => {
    current = entry;
    // the parser waits until an entry is read
    last = last.then(() => onEntry(entry)).then(() => void entry.resume());
    last.catch(reject);
  });
  parser.on('error', reject);
  parser.on('end', () => void last.then(resolve, reject));
  try {
    await pipeline(source, decompress, feed, { signal });
    parser.end();
    await end;
  } catch (error) {
    stopReading(current, error);
    await last.catch(() => undefined);
    throw error;
  }

  async function feed(chunks: AsyncIterable<Buffer>): Promise<void> {
    let isFirst = true;
    for await (const chunk of chunks) {
      if (isFirst && compressed.some((magic) => chunk.subarray(0, magic.length).equals(magic)))
        throw new ImageError('refused', 'The image is compressed twice. Save it again.');
      isFirst = false;
      onChunk(chunk);
      if (!parser.write(chunk)) await Promise.race([once(parser, 'drain', { signal }), end]);
    }
  }
}

/** Ends the wait for data that will not come. */
function stopReading(entry: ReadEntry | null, error: unknown): void {
  entry?.destroy(error);
}

/** Writes the data of an entry, and closes the file. */
export async function writeEntry(file: FileHandle, entry: ReadEntry): Promise<void> {
  try {
    for await (const chunk of entry) await file.writeFile(chunk);
    // programs compare the time of a source with that of its compiled file
    if (entry.mtime !== undefined) await file.utimes(entry.mtime, entry.mtime);
  } finally {
    await file.close();
  }
}
