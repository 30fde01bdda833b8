import { createHash } from 'node:crypto';
import { constants, copyFile, type FileHandle, open, rename, rm } from 'node:fs/promises';
import type { Pool, PoolClient } from 'pg';
import { withTransaction } from '../pool.ts';
import { randomText } from '../random-text.ts';

/**
 * A file as blocks of equal size. The pages of an SQLite file keep their positions, so a small change affects few
 * blocks.
 */
export interface StoredBlocks {
  hashes: Buffer[];
  sizeBytes: number;
}

/** A version that is no longer stored, because a newer one is current. */
export class IndexGoneError extends Error {
  override name = 'IndexGoneError';
}

const blockSize = 64 * 1024;
const batchBlocks = 16;
const lockKey = `hashtextextended('docket index blocks', 0)`;

/** Prevents the removal of blocks while `work` stores some that no version refers to yet. */
export async function withBlocksKept<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let unlocked = false;
  try {
    await client.query(`select pg_advisory_lock_shared(${lockKey})`);
    const result = await work(client);
    await client.query(`select pg_advisory_unlock_shared(${lockKey})`);
    unlocked = true;
    return result;
  } finally {
    // a connection that may still hold the lock is closed, which releases it
    client.release(!unlocked);
  }
}

/** A file whose blocks are known, by their names in order. */
export interface KnownFile {
  file: string;
  blocks: string[];
}

/**
 * Stores the missing blocks; one query finds which ones are stored already. Each batch is a transaction in the order of
 * hashes, so that two stores never deadlock. A block that also occurs in `previous`, whose blocks are stored, is not
 * hashed again.
 */
export async function storeBlocks(
  client: PoolClient,
  file: string,
  previous: { file: string; hashes: Buffer[] } | null = null,
): Promise<StoredBlocks> {
  const { hashes, sizeBytes } = await hashBlocks(file, previous);
  const { rows } = await client.query<{ hash: Buffer }>(
    'select hash from site_index_blocks where hash = any($1::bytea[])',
    [hashes],
  );
  const known = new Set(rows.map(({ hash }) => nameOf(hash)));
  const missing = hashes.flatMap((hash, position) => (known.has(nameOf(hash)) ? [] : [{ hash, position }]));
  await using handle = await open(file);
  for (let start = 0; start < missing.length; start += batchBlocks) {
    const batch = missing.slice(start, start + batchBlocks);
    const blocks: Buffer[] = [];
    for (const { position } of batch) blocks.push(await readBlock(handle, position));
    await client.query(
      `insert into site_index_blocks (hash, data)
       select distinct on (hash) hash, data from unnest($1::bytea[], $2::bytea[]) as block (hash, data) order by hash
       on conflict (hash) do nothing`,
      [batch.map(({ hash }) => hash), blocks],
    );
  }
  return { hashes, sizeBytes };
}

async function hashBlocks(file: string, previous: { file: string; hashes: Buffer[] } | null): Promise<StoredBlocks> {
  const hashes: Buffer[] = [];
  let sizeBytes = 0;
  await using former = previous === null ? null : await open(previous.file);
  for await (const blocks of readBlocks(file)) {
    const earlier = former === null ? null : await readFully(former, batchBlocks * blockSize, null);
    for (const [index, block] of blocks.entries()) {
      const known = earlier?.subarray(index * blockSize, (index + 1) * blockSize).equals(block);
      hashes.push((known === true ? previous?.hashes[hashes.length] : undefined) ?? hashOf(block));
      sizeBytes += block.length;
    }
  }
  return { hashes, sizeBytes };
}

/**
 * Removes blocks that no version refers to, unless a process is storing some; the next publication then removes them.
 */
export async function removeOrphanBlocks(pool: Pool): Promise<void> {
  await withTransaction(pool, async (client) => {
    const { rows } = await client.query<{ alone: boolean }>(`select pg_try_advisory_xact_lock(${lockKey}) as alone`);
    if (rows[0]?.alone !== true) return;
    await client.query(
      `delete from site_index_blocks
       where not exists (select from site_index_layout where site_index_layout.hash = site_index_blocks.hash)`,
    );
  });
}

/** Writes a file from its blocks; it appears under its name once it is complete. */
export async function restoreBlocks(
  pool: Pool,
  stored: StoredBlocks,
  { file, previous }: { file: string; previous?: KnownFile },
): Promise<KnownFile> {
  const partial = `${file}.${randomText('0123456789abcdef', 12)}.part`;
  try {
    await writeBlocks(pool, stored, { partial, previous });
    await rename(partial, file);
    return { file, blocks: stored.hashes.map(nameOf) };
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** Copies the previous file and overwrites the blocks that differ. */
async function writeBlocks(
  pool: Pool,
  { hashes, sizeBytes }: StoredBlocks,
  { partial, previous: former }: { partial: string; previous: KnownFile | undefined },
): Promise<void> {
  const isCopied = former !== undefined && (await isCopiedTo(former.file, partial));
  const known = isCopied ? former.blocks : [];
  const positions = new Map(known.map((name, position) => [name, position]));
  await using previous = isCopied ? await open(former.file) : null;
  await using output = await open(partial, isCopied ? 'r+' : 'wx', 0o600);
  const moved = hashes
    .map((hash, position) => ({ hash, position, name: nameOf(hash) }))
    .filter(({ name, position }) => known[position] !== name);
  for (let start = 0; start < moved.length; start += batchBlocks) {
    const batch = moved.slice(start, start + batchBlocks);
    const blocks = await fetchBlocks(
      pool,
      batch.filter(({ name }) => !positions.has(name)).map(({ hash }) => hash),
    );
    for (const { name, position } of batch) {
      const known = positions.get(name);
      const data = previous !== null && known !== undefined ? await readBlock(previous, known) : blocks.get(name);
      if (data === undefined) throw new IndexGoneError('The version was replaced while it was being read.');
      await writeFully(output, data, position * blockSize);
    }
  }
  const { size } = await output.stat();
  if (size < sizeBytes) throw new Error(`An index of ${sizeBytes} bytes was read as ${size} bytes.`);
  await output.truncate(sizeBytes);
}

/** Accepts a block only if it matches its hash, because stored data may be damaged or modified. */
async function fetchBlocks(pool: Pool, hashes: Buffer[]): Promise<Map<string, Buffer>> {
  if (hashes.length === 0) return new Map();
  const { rows } = await pool.query<{ hash: Buffer; data: Buffer }>(
    'select hash, data from site_index_blocks where hash = any($1::bytea[])',
    [hashes],
  );
  if (!rows.every(({ hash, data }) => hashOf(data).equals(hash)))
    throw new Error('A stored block of the index does not match its hash. Re-index the site.');
  return new Map(rows.map(({ hash, data }) => [nameOf(hash), data]));
}

/** False when the file is gone; then all blocks are fetched. */
async function isCopiedTo(file: string, target: string): Promise<boolean> {
  try {
    await copyFile(file, target, constants.COPYFILE_FICLONE);
    return true;
  } catch {
    await rm(target, { force: true });
    return false;
  }
}

async function* readBlocks(file: string): AsyncGenerator<Buffer[]> {
  await using handle = await open(file);
  for (;;) {
    const batch = await readFully(handle, batchBlocks * blockSize, null);
    const count = Math.ceil(batch.length / blockSize);
    if (count > 0) {
      yield Array.from({ length: count }, (_, index) => batch.subarray(index * blockSize, (index + 1) * blockSize));
    }
    if (batch.length < batchBlocks * blockSize) return;
  }
}

function readBlock(handle: FileHandle, position: number): Promise<Buffer> {
  return readFully(handle, blockSize, position * blockSize);
}

/**
 * Reads up to `length` bytes; fewer only at the end of the file. With `position` null, continues after the last read.
 */
async function readFully(handle: FileHandle, length: number, position: number | null): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const at = position === null ? null : position + filled;
    const { bytesRead } = await handle.read(buffer, filled, length - filled, at);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

async function writeFully(handle: FileHandle, data: Buffer, position: number): Promise<void> {
  for (let written = 0; written < data.length;) {
    const { bytesWritten } = await handle.write(data, written, data.length - written, position + written);
    written += bytesWritten;
  }
}

function nameOf(hash: Buffer): string {
  return hash.toString('hex');
}

function hashOf(data: Buffer): Buffer {
  return createHash('sha256').update(data).digest();
}
