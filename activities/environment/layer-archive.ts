import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import type { EnvironmentLayerStore } from '../../db/for-worker/environment-layers.ts';
import { base64Cores } from '../../lib/redaction/known-forms.ts';
import { archiveName } from './layer-files.ts';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);
/** Part of an archive that is stored as one row. */
const chunkBytes = 8 * 2 ** 20;
const options = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Calls `visit` with each part of the archive in a folder; the part is valid until it returns. */
async function eachPart(
  folder: string,
  signal: AbortSignal,
  visit: (part: Buffer, index: number) => void | Promise<void>,
): Promise<void> {
  await using file = await open(join(folder, archiveName), 'r');
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (let index = 0; ; index += 1) {
    signal.throwIfAborted();
    let length = 0;
    while (length < chunkBytes) {
      const { bytesRead } = await file.read(buffer, length, chunkBytes - length, index * chunkBytes + length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > 0) await visit(buffer.subarray(0, length), index);
    if (length < chunkBytes) return;
  }
}

/** Shorter parts of base64 occur by chance. */
const minBase64Length = 8;

/** Returns a secret as programs store it: as it is, and in base64, as logins of Docker and npm do. */
function writtenForms(value: string): string[] {
  return [value, ...base64Cores(value).filter(({ length }) => length >= minBase64Length)];
}

/** Returns the size and hash of an archive, and the name of the first secret whose value it contains. */
export async function inspectArchive(
  folder: string,
  { secrets, signal }: { secrets: Readonly<Record<string, string>>; signal: AbortSignal },
): Promise<{ bytes: number; sha256: string; secret: string | null }> {
  const hash = createHash('sha256');
  const values = Object.entries(secrets).flatMap(([name, value]) =>
    writtenForms(value).map((text) => ({ name, value: Buffer.from(text) })),
  );
  const longest = Math.max(1, ...values.map(({ value }) => value.length)) - 1;
  let before: Buffer = Buffer.alloc(0);
  let bytes = 0;
  let secret: string | null = null;
  await eachPart(folder, signal, (part) => {
    hash.update(part);
    bytes += part.length;
    const seam = Buffer.concat([before, part.subarray(0, longest)]);
    secret ??= values.find(({ value }) => part.includes(value) || seam.includes(value))?.name ?? null;
    before = Buffer.from(part.subarray(Math.max(0, part.length - longest)));
  });
  return { bytes, sha256: hash.digest('hex'), secret };
}

/** Stores an archive in the database; false, with nothing stored, if it takes more than `maxBytes` there. */
export async function uploadArchive(
  store: Pick<EnvironmentLayerStore, 'addChunk'>,
  { id, folder, maxBytes, signal }: { id: string; folder: string; maxBytes: number; signal: AbortSignal },
): Promise<boolean> {
  let stored = 0;
  await eachPart(folder, signal, async (part, index) => {
    if (stored > maxBytes) return;
    const chunk = await compress(part, options);
    stored += chunk.length;
    if (stored <= maxBytes) await store.addChunk(id, index, chunk);
  });
  return stored <= maxBytes;
}

/** Writes a stored archive to a folder; false if it is not the one that was stored. */
export async function downloadArchive(
  store: Pick<EnvironmentLayerStore, 'chunk'>,
  { id, folder, sha256, signal }: { id: string; folder: string; sha256: string; signal: AbortSignal },
): Promise<boolean> {
  const hash = createHash('sha256');
  await using file = await open(join(folder, archiveName), 'wx', 0o600);
  for (let index = 0; ; index += 1) {
    signal.throwIfAborted();
    const chunk = await store.chunk(id, index);
    if (chunk === null) return hash.digest('hex') === sha256;
    const part = await decompress(chunk, { maxOutputLength: chunkBytes });
    hash.update(part);
    await file.write(part);
  }
}
