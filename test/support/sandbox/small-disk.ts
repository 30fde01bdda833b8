import { execFile } from 'node:child_process';
import { chmod, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../temporary-directory.ts';

const execute = promisify(execFile);

export interface SmallDisk extends AsyncDisposable {
  directory: string;
  /** Fills the disk to the last byte. */
  fill(): Promise<void>;
  empty(): Promise<void>;
}

/** Mounts a file system of this many megabytes; null if this account may not mount one. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | null> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return null;
  const directory = temporaryDirectory();
  try {
    await execute('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'docket-test', directory]);
  } catch {
    return null;
  }
  await chmod(directory, 0o755);
  const filler = join(directory, 'filler');
  return {
    directory,
    async fill() {
      await using file = await open(filler, 'a');
      for (let size = 1 << 20; size >= 1; size >>= 1) {
        const piece = Buffer.alloc(size);
        const fits = async () => (await file.write(piece)).bytesWritten === size;
        while (await fits().catch(() => false));
      }
    },
    empty: () => rm(filler, { force: true }),
    async [Symbol.asyncDispose]() {
      await execute('umount', ['--lazy', directory]);
    },
  };
}
