import { readdir, readFile } from 'node:fs/promises';

/** Memory of a process that is its own, shared in memory, swapped out or spent on its page tables. */
const countedMemory = /^(?:RssAnon|RssShmem|VmSwap|VmPTE):\s*(\d+) kB$/gm;
/** Queues of sockets of the internet, as they are at the moment: bytes to send and bytes that came. */
const queues = /^\s*\d+: \S+ \S+ \S\S ([\dA-F]{8}):([\dA-F]{8}) /gm;

/**
 * Memory that the processes below one use together, in bytes, as far as it can be seen: what they have for themselves and share, and
 * what lies in their sockets. A socket within the machine does not tell what it holds, so it counts as full.
 */
export async function memoryOf(pid: number): Promise<number> {
  const pids = await processesBelow(pid);
  const statuses = await Promise.all(pids.map((one) => read(`/proc/${one}/status`)));
  const kilobytes = statuses.flatMap((status) => numbersIn(status, countedMemory));
  const innermost = pids.at(-1);
  const inSockets = innermost === undefined ? 0 : await memoryOfSockets(innermost);
  return inSockets + kilobytes.reduce((sum, number) => sum + number * 1024, 0);
}

/** Whether a process is there and has not ended. */
export async function isAlive(pid: number): Promise<boolean> {
  const stat = await read(`/proc/${pid}/stat`);
  // the name before the state may hold anything
  return stat !== '' && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}

/** A process and all below it; the last is one without children. */
export async function processesBelow(pid: number): Promise<number[]> {
  const below = await Promise.all((await childrenOf(pid)).map(processesBelow));
  return [pid, ...below.flat()];
}

/** Of all sockets in the network that a process is in. */
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

/** What has ended meanwhile has nothing to say. */
function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
