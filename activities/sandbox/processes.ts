import { statfsSync, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

/** Memory of a process that is private, shared, swapped out or used by its page tables. */
const countedMemory = /^(?:RssAnon|RssShmem|VmSwap|VmPTE):\s*(\d+) kB$/gm;
/** Current queues of internet sockets: bytes to send and bytes received. */
const queues = /^ *\d+: \S+ \S+ \S\S ([\dA-F]{8}):([\dA-F]{8}) /gm;
/** The file systems of a sandbox that are in memory. */
const inMemory = ['/tmp', '/dev/shm'];
/** Memory that the kernel needs for a file of these, even for an empty one. */
const bytesPerFile = 1_024;

/**
 * Returns the memory that the processes below `pid` use together, in bytes, as far as it is visible: private and shared
 * memory, files in memory, and socket buffers. A local socket does not report what it holds, so it counts as full. A
 * file in memory that is mapped counts once more, as the memory of its process.
 */
export async function memoryOf(pid: number): Promise<number> {
  const pids = await processesBelow(pid);
  const statuses = await Promise.all(pids.map((one) => read(`/proc/${one}/status`)));
  const kilobytes = statuses.flatMap((status) => numbersIn(status, countedMemory));
  const innermost = pids.at(-1);
  const inSockets = innermost === undefined ? 0 : await memoryOfSockets(innermost);
  return inSockets + memoryOfFiles(pids) + kilobytes.reduce((sum, number) => sum + number * 1024, 0);
}

/** Reports whether a process exists and has not ended. */
export async function isAlive(pid: number): Promise<boolean> {
  const stat = await read(`/proc/${pid}/stat`);
  // the name before the state may contain any character
  return stat !== '' && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}

/** Returns a process and all its descendants; the last one has no children. */
export async function processesBelow(pid: number): Promise<number[]> {
  const below = await Promise.all((await childrenOf(pid)).map(processesBelow));
  return [pid, ...below.flat()];
}

/** Returns the memory of the files in the sandbox's own file systems in memory, whether or not a process has them open. */
function memoryOfFiles(pids: readonly number[]): number {
  const namespaces = new Set<number>();
  const found = new Map<number, number>();
  for (const pid of pids) {
    const namespace = attempt(() => statSync(`/proc/${pid}/ns/mnt`).ino);
    if (namespace === null || namespaces.has(namespace)) continue;
    namespaces.add(namespace);
    for (const folder of inMemory) attempt(() => note(`/proc/${pid}/root${folder}`, folder));
  }
  return [...found.values()].reduce((sum, bytes) => sum + bytes, 0);

  function note(path: string, folder: string): void {
    const device = statSync(path).dev;
    // until its sandbox is complete, a process sees the machine's own
    if (device === attempt(() => statSync(folder).dev)) return;
    const { bsize, blocks, bfree, files, ffree } = statfsSync(path);
    found.set(device, (blocks - bfree) * bsize + (files - ffree) * bytesPerFile);
  }
}

/** Returns null where reading fails: a process may have ended, and a file may be closed. */
export function attempt<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** Returns the memory of all sockets in the process's network namespace. */
async function memoryOfSockets(pid: number): Promise<number> {
  const names = ['sockstat', 'tcp', 'tcp6', 'udp', 'udp6'];
  const [stat = '', ...lists] = await Promise.all(names.map((name) => read(`/proc/${pid}/net/${name}`)));
  const [used = 0] = numbersIn(stat, /^sockets: used (\d+)$/gm);
  const bytesOfOne = Number(await read('/proc/sys/net/core/wmem_default'));
  const queued = lists.flatMap((list) => [...list.matchAll(queues)].flatMap(([, out, received]) => [out, received]));
  return queued.reduce((sum, bytes) => sum + Number.parseInt(bytes ?? '0', 16), used * bytesOfOne);
}

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(threads.map((thread) => read(`/proc/${pid}/task/${thread}/children`)));
  return lists.flatMap((list) => numbersIn(list, /(\d+)/g));
}

function numbersIn(text: string, pattern: RegExp): number[] {
  return [...text.matchAll(pattern)].map(([, number]) => Number(number));
}

/** Returns an empty string for a process that has ended meanwhile. */
function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
