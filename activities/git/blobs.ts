import type { Git } from './git.ts';
import { GitError } from './git-error.ts';

/** A regular file of a commit. */
export interface Blob {
  path: string;
  object: string;
  size: number;
}

/** Largest file that is read, in bytes. */
export const maxFileBytes = 10 * 1024 * 1024;
const filesPerBatch = 5_000;
const bytesPerBatch = 32 * 1024 * 1024;

/** Reads an entry of `ls-tree -l`; null unless it is a regular file. */
export function blobOf(entry: string): Blob | null {
  const match = /^100(?:644|755) blob ([0-9a-f]{40,64}) +(\d+)\t(.+)$/s.exec(entry);
  if (match === null) return null;
  const [, object = '', size = '', path = ''] = match;
  return { path, object, size: Number(size) };
}

/** Reads the contents of blobs of at most `maxFileBytes` bytes, in order. Errors: GitError. */
export async function* readBlobs<Entry extends { blob: Blob }>(
  git: Pick<Git, 'run'>,
  entries: readonly Entry[],
  { gitDir, signal }: { gitDir: string; signal: AbortSignal },
): AsyncGenerator<[Entry, Uint8Array]> {
  for (const batch of batchesOf(entries)) {
    const { stdout } = await git.run({
      gitDir,
      args: ['cat-file', '--batch', '--buffer'],
      input: batch.map(({ blob }) => `${blob.object}\n`).join(''),
      maxOutputBytes: bytesPerBatch + maxFileBytes + filesPerBatch * 100,
      signal,
    });
    let offset = 0;
    for (const entry of batch) {
      const { object, size } = entry.blob;
      const start = stdout.indexOf(0x0a, offset) + 1;
      if (stdout.toString('latin1', offset, start) !== `${object} blob ${size}\n`) throw new GitError('corrupt');
      yield [entry, stdout.subarray(start, start + size)];
      offset = start + size + 1;
    }
  }
}

function* batchesOf<Entry extends { blob: Blob }>(entries: readonly Entry[]): Generator<Entry[]> {
  let batch: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    batch.push(entry);
    bytes += entry.blob.size;
    if (batch.length < filesPerBatch && bytes < bytesPerBatch) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}
