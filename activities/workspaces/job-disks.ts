import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rm, rmdir, statfs, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { GitError } from '../git/git-error.ts';
import { hasOwnDisk } from './own-disk.ts';
import { pathInTrash, removeTree } from './remove-tree.ts';

/** Content of a tree; determines the size of its disk. */
export interface TreeSize {
  bytes: number;
  files: number;
}

/** The folders of a job that its commands can write and keep. They share a disk. */
export interface DiskFolders {
  tree: string;
  home: string;
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
const minBytes = 1 << 20;
/** Minimum room beyond the tree; a disk with less counts as full. */
const minGrowth = 2 * minBytes;
/** Inodes of the folders on the disk, and the inodes reserved by ext4. */
const minInodes = 20;
/** No journal: a tree is rebuilt from its snapshot after a crash of the machine. */
const mkfsOptions = ['-q', '-F', '-b', String(blockBytes), '-I', String(inodeBytes), '-m', '0', '-O', '^has_journal'];
/**
 * Mounts without discard, so that the blocks of the image stay allocated: a write to a tree cannot fail because the
 * underlying disk is full.
 */
const mountOptions = 'loop,nosuid,nodev,noatime,nodiscard,noinit_itable';

/** Provides each job with its own fixed-size file system: the kernel refuses writes beyond that size. */
export type JobDisks = Awaited<ReturnType<typeof openJobDisks>>;

/**
 * Returns a provider of disks that hold a tree and `growthBytes` more at most. Each disk is an ext4 file system in a
 * fully allocated file next to the tree. The file is unlinked once it is mounted, so unmounting frees its space. Throws
 * NoJobDisksError if a probe of this setup fails.
 */
export async function openJobDisks(directory: string, { growthBytes }: { growthBytes: number }) {
  const scratch = await pathInTrash(directory);
  const probe = { tree: join(scratch, 'tree'), home: join(scratch, 'home') };
  try {
    await mkdir(scratch, { recursive: true, mode: 0o700 });
    await makeDisk(probe, { bytes: minBytes, inodes: minInodes });
    if (await takes(probe.home, (await capacityOf(probe.tree)) + 1)) throw new Error('the disk exceeded its size');
  } catch (cause) {
    throw new NoJobDisksError(
      'DOCKET_JOB_DISK_MB is set, but this worker cannot mount disks of jobs; run it as root with loop devices, e2fsprogs and a work directory that can allocate files, or unset it.',
      { cause },
    );
  } finally {
    await removeJobFolder(scratch);
  }

  /** Reports whether the folders are on a disk that was made for this `maxBytes`. */
  const holds = async ({ tree }: DiskFolders, maxBytes: number | null): Promise<boolean> =>
    hasOwnDisk(tree) && (await readFile(sizeFile(dirname(tree)), 'utf8').catch(() => '')) === String(maxBytes);

  return {
    holds,
    /**
     * Ensures that the folders have a disk with room for `size` and for what commands add, of `maxBytes` in total unless
     * the tree itself is larger. Folders with no disk, or with one of another size, are replaced by an empty disk.
     */
    async provide(folders: DiskFolders, { bytes, files }: TreeSize, maxBytes: number | null): Promise<void> {
      const { tree, home } = folders;
      const folder = dirname(tree);
      const needed = bytes + files * blockBytes;
      const growth = Math.max(minGrowth, Math.min(growthBytes, (maxBytes ?? Infinity) - needed));
      if ((await holds(folders, maxBytes)) && (await capacityOf(tree)) >= needed + growth / 2) return;
      await removeDisk(folder);
      for (const one of [tree, home]) await removeTree(one);
      const inodes = 2 * files + Math.ceil(growth / blockBytes) + minInodes;
      await makeDisk(folders, { bytes: needed + growth, inodes });
      await writeFile(sizeFile(folder), String(maxBytes));
    },
  };
}

const sizeFile = (folder: string) => join(folder, 'size-of-disk');
/** Where a disk is mounted until its folders are. */
const stageOf = (folder: string) => join(folder, 'disk');

/** Removes a job's folder and its disk. */
export async function removeJobFolder(folder: string): Promise<void> {
  await removeDisk(folder);
  await removeTree(folder);
}

/** Unmounts the disk of a job's folder, including one that another worker mounted before it was killed. */
async function removeDisk(folder: string): Promise<void> {
  await rm(sizeFile(folder), { force: true });
  for (const mounted of [join(folder, 'tree'), join(folder, 'home'), stageOf(folder)])
    // lazily: a command of another job may hold a copy of the mount until it ends
    if (hasOwnDisk(mounted)) await execute('umount', ['--lazy', mounted], { env });
}

async function makeDisk(
  { tree, home }: DiskFolders,
  { bytes, inodes }: { bytes: number; inodes: number },
): Promise<void> {
  const image = join(dirname(tree), `disk-${randomUUID()}`);
  const stage = stageOf(dirname(tree));
  try {
    for (const folder of [stage, home, tree]) await mkdir(folder, { recursive: true, mode: 0o700 });
    await using file = await open(image, 'wx', 0o600);
    const size = Math.ceil((bytes * overheadFactor + inodes * inodeBytes) / minBytes + 1) * minBytes;
    await execute('fallocate', ['--length', String(size), image], { env });
    await execute('mkfs.ext4', [...mkfsOptions, '-E', 'nodiscard', '-N', String(inodes), image], { env });
    await execute('mount', ['-t', 'ext4', '-o', mountOptions, image, stage], { env });
    await file.close();
    await rmdir(join(stage, 'lost+found'));
    // the tree comes last: a job whose tree has a disk has it for HOME, too
    for (const folder of [home, tree]) {
      const onDisk = join(stage, basename(folder));
      await mkdir(onDisk, { mode: 0o700 });
      await execute('mount', ['--bind', onDisk, folder], { env });
    }
    await execute('umount', ['--lazy', stage], { env });
    await rmdir(stage);
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

async function takes(folder: string, bytes: number): Promise<boolean> {
  const probe = join(folder, 'probe');
  return writeFile(probe, Buffer.alloc(bytes)).then(
    () => true,
    () => false,
  );
}
