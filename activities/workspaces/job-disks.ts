import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, open, rm, rmdir, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { GitError } from '../git/git-error.ts';
import { hasOwnDisk } from './own-disk.ts';
import { removeTree } from './remove-tree.ts';

/** Content of a tree; determines the size of its disk. */
export interface TreeSize {
  bytes: number;
  files: number;
}

/** Provides each job's tree with its own fixed-size file system: the kernel refuses writes beyond that size. */
export interface JobDisks {
  /**
   * Ensures that the tree has a disk with room for `size` and for what commands add. A tree with no disk, or with one
   * that is too small, is replaced by an empty disk.
   */
  provide(tree: string, size: TreeSize): Promise<void>;
}

/** Thrown when trees cannot have disks here; the message is one sentence that says what to do about it. */
export class NoJobDisksError extends Error {
  override name = 'NoJobDisksError';
}

const execute = promisify(execFile);
const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
const blockBytes = 4096;
const inodeBytes = 256;
/** Room for block and inode bitmaps and for the folders of a tree. */
const overheadFactor = 1.02;
const leastBytes = 1 << 20;
/** No journal: a tree is rebuilt from its snapshot after a crash of the machine. */
const mkfsOptions = ['-q', '-F', '-b', String(blockBytes), '-I', String(inodeBytes), '-m', '0', '-O', '^has_journal'];
/**
 * Mounts without discard, so that the blocks of the image stay allocated: a write to a tree cannot fail because the
 * underlying disk is full.
 */
const mountOptions = 'loop,nosuid,nodev,noatime,nodiscard,noinit_itable';

/**
 * Returns a provider of disks that hold a tree and `growthBytes` more. Each disk is an ext4 file system in a fully
 * allocated file next to the tree. The file is unlinked once it is mounted, so unmounting frees its space. Throws
 * NoJobDisksError if a probe of this setup fails.
 */
export async function openJobDisks(directory: string, { growthBytes }: { growthBytes: number }): Promise<JobDisks> {
  const scratch = join(directory, 'trash', randomUUID());
  const tree = join(scratch, 'tree');
  try {
    await mkdir(scratch, { recursive: true, mode: 0o700 });
    await makeDisk(tree, { bytes: leastBytes, inodes: 16 });
    if (await holds(tree, (await capacityOf(tree)) + 1)) throw new Error('the disk exceeded its size');
  } catch (cause) {
    throw new NoJobDisksError(
      'DOCKET_JOB_DISK_MB is set, but this worker cannot mount disks of jobs; run it as root with loop devices, e2fsprogs and a work directory that can allocate files, or unset it.',
      { cause },
    );
  } finally {
    await removeJobFolder(scratch);
  }

  return {
    async provide(tree, { bytes, files }) {
      const needed = bytes + files * blockBytes;
      if (hasOwnDisk(tree) && (await capacityOf(tree)) >= needed + growthBytes / 2) return;
      await removeDisk(tree);
      await removeTree(tree);
      const inodes = 2 * files + Math.ceil(growthBytes / blockBytes);
      await makeDisk(tree, { bytes: needed + growthBytes, inodes });
    },
  };
}

/** Removes a job's folder and the disk of its tree. */
export async function removeJobFolder(folder: string): Promise<void> {
  await removeDisk(join(folder, 'tree'));
  await removeTree(folder);
}

/** Unmounts the tree's disk, including one that another worker mounted before it was killed. */
async function removeDisk(tree: string): Promise<void> {
  // lazily: a command of another job may hold a copy of the mount until it ends
  if (hasOwnDisk(tree)) await execute('umount', ['--lazy', tree], { env });
}

async function makeDisk(tree: string, { bytes, inodes }: { bytes: number; inodes: number }): Promise<void> {
  const image = join(dirname(tree), `disk-${randomUUID()}`);
  await mkdir(tree, { recursive: true, mode: 0o700 });
  try {
    await using file = await open(image, 'wx', 0o600);
    const size = Math.ceil((bytes * overheadFactor + inodes * inodeBytes) / leastBytes + 1) * leastBytes;
    await execute('fallocate', ['--length', String(size), image], { env });
    await execute('mkfs.ext4', [...mkfsOptions, '-E', 'nodiscard', '-N', String(inodes), image], { env });
    await execute('mount', ['-t', 'ext4', '-o', mountOptions, image, tree], { env });
    await file.close();
    await rmdir(join(tree, 'lost+found'));
    await chmod(tree, 0o700);
  } catch (cause) {
    if (/No space left/.test(String(cause))) throw new GitError('disk-full', { cause });
    throw new GitError('other', { message: "The job's disk could not be created.", cause });
  } finally {
    await rm(image, { force: true });
  }
}

async function capacityOf(tree: string): Promise<number> {
  const { blocks, bsize } = await statfs(tree);
  return blocks * bsize;
}

async function holds(tree: string, bytes: number): Promise<boolean> {
  const probe = join(tree, 'probe');
  return writeFile(probe, Buffer.alloc(bytes)).then(
    () => true,
    () => false,
  );
}
