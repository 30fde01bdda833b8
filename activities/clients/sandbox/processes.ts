import { readdir, readFile } from 'node:fs/promises';

/** Memory that the processes below one use together, in bytes: what they have for themselves and what they share in memory. */
export async function memoryOf(pid: number): Promise<number> {
  const [own, children] = await Promise.all([memoryOfOne(pid), childrenOf(pid)]);
  const below = await Promise.all(children.map(memoryOf));
  return below.reduce((sum, bytes) => sum + bytes, own);
}

/** Whether a process is there and has not ended. */
export async function isAlive(pid: number): Promise<boolean> {
  const stat = await read(`/proc/${pid}/stat`);
  // the name before the state may hold anything
  return stat !== '' && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}

async function memoryOfOne(pid: number): Promise<number> {
  const status = await read(`/proc/${pid}/status`);
  const kilobytes = [...status.matchAll(/^Rss(?:Anon|Shmem):\s*(\d+) kB$/gm)].map(([, number]) => Number(number));
  return kilobytes.reduce((sum, number) => sum + number * 1024, 0);
}

async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const lists = await Promise.all(threads.map((thread) => read(`/proc/${pid}/task/${thread}/children`)));
  return lists.flatMap((list) =>
    list
      .split(' ')
      .filter((text) => text !== '')
      .map(Number),
  );
}

/** What has ended meanwhile has nothing to say. */
function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
