import { setImmediate as nextTurn } from 'node:timers/promises';

/** Copying 8 MB into fresh memory takes about eight milliseconds. */
const bytesPerTurn = 8 * 1024 * 1024;

/** Concatenates chunks without blocking the event loop. */
export async function joinChunks(chunks: readonly Uint8Array[]): Promise<Buffer> {
  const joined = Buffer.allocUnsafeSlow(chunks.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const chunk of chunks) {
    joined.set(chunk, end);
    const before = end;
    end += chunk.length;
    if (Math.floor(before / bytesPerTurn) < Math.floor(end / bytesPerTurn)) await nextTurn();
  }
  return joined;
}
