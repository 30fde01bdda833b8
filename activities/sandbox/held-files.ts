import { readdirSync, readFileSync, statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { attempt, processesBelow } from './processes.ts';

/** Files without a name that processes keep open or mapped, on the file system of a tree. */
export interface HeldFiles {
  bytes: number;
  /** Number of files whose size cannot be read: in transit through a socket, or mapped where the worker may not look. */
  unreadable: number;
  /** Number of files in transit through a socket. */
  inSockets: number;
  /** Bytes that the processes, and those they have waited for, have written to disks. */
  written: number;
}

const descriptorsPerTurn = 400;
/** Its address, file system and inode. */
const deletedMapping = /^([\da-f]+-[\da-f]+) \S+ \S+ ([\da-f]+):([\da-f]+) (\d+) .* \(deleted\)$/gm;

/** Finds what the processes below one hold of the file system of `tree` that a walk through it does not see. */
export async function heldFiles(firstPid: number, tree: string, isOver: () => boolean): Promise<HeldFiles> {
  const device = statSync(tree).dev;
  const sizes = new Map<number, number>();
  const unreadable = new Set<number>();
  let inSockets = 0;
  let written = 0;
  let seen = 0;

  function note(path: string): boolean {
    const stat = attempt(() => statSync(path));
    if (stat?.isFile() === true && stat.nlink === 0 && stat.dev === device) sizes.set(stat.ino, stat.blocks * 512);
    return stat?.isSocket() === true;
  }

  async function lookAtDescriptors(thread: string): Promise<void> {
    for (const name of attempt(() => readdirSync(`${thread}/fd`)) ?? []) {
      if (note(`${thread}/fd/${name}`)) inSockets += filesInSocket(`${thread}/fdinfo/${name}`);
      seen += 1;
      if (seen % descriptorsPerTurn === 0) await nextTurn();
      if (isOver()) return;
    }
  }

  for (const pid of await processesBelow(firstPid)) {
    // a thread may have its own descriptors, and outlive the first thread of its process
    const threads = (attempt(() => readdirSync(`/proc/${pid}/task`)) ?? []).map((id) => `/proc/${pid}/task/${id}`);
    for (const thread of threads) await lookAtDescriptors(thread);
    const maps = threads.map((thread) => attempt(() => readFileSync(`${thread}/maps`, 'latin1'))).find(Boolean) ?? '';
    for (const [, address, major, minor, inode] of maps.matchAll(deletedMapping)) {
      note(`/proc/${pid}/map_files/${address}`);
      if (`${major}:${minor}` === kernelNameOf(device)) unreadable.add(Number(inode));
    }
    written += writtenBy(pid);
    await nextTurn();
  }
  for (const inode of sizes.keys()) unreadable.delete(inode);
  return {
    bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0),
    unreadable: unreadable.size + inSockets,
    inSockets,
    written,
  };
}

function filesInSocket(fdinfo: string): number {
  const text = attempt(() => readFileSync(fdinfo, 'latin1')) ?? '';
  return Number(/^scm_fds: (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** Returns 0 where the kernel does not count it, or does not let the worker read it. */
function writtenBy(pid: number): number {
  const text = attempt(() => readFileSync(`/proc/${pid}/io`, 'latin1')) ?? '';
  return Number(/^write_bytes: (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** Returns a device as `/proc/PID/maps` names it: `major:minor` in hexadecimal. */
function kernelNameOf(device: number): string {
  const major = (device >> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >> 12) & 0xfff00);
  return [major, minor].map((number) => number.toString(16).padStart(2, '0')).join(':');
}
