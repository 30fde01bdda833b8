import { randomUUID } from 'node:crypto';
import { existsSync, rmdirSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

/**
 * Processes whose memory the kernel limits together, including what they hold in files, sockets, pipes and page tables.
 */
export interface MemoryGroup {
  /** Moves a process into the group; its later children start in the group. */
  add(pid: number): Promise<void>;
  /** Sets the limit of the processes together. */
  limit(bytes: number): Promise<void>;
  /** Reports whether the kernel has killed a process of the group for reaching its limit since the group was taken. */
  hasOverrun(): Promise<boolean>;
  /** Returns the group to the pool once all its processes have ended. */
  release(): void;
}

export interface MemoryGroups {
  take(): Promise<MemoryGroup>;
}

/** Control files of one cgroup version. */
interface Version {
  settings(limitBytes: number): { file: string; value: string; isOptional: boolean }[];
  events: string;
}

interface Parent {
  directory: string;
  version: Version;
}

const first: Version = {
  settings: (limitBytes) => [
    { file: 'memory.limit_in_bytes', value: String(limitBytes), isOptional: false },
    { file: 'memory.memsw.limit_in_bytes', value: String(limitBytes), isOptional: true },
  ],
  events: 'memory.oom_control',
};
const second: Version = {
  settings: (limitBytes) => [
    { file: 'memory.max', value: String(limitBytes), isOptional: false },
    { file: 'memory.swap.max', value: '0', isOptional: true },
    { file: 'memory.oom.group', value: '1', isOptional: true },
  ],
  events: 'memory.events',
};
const prefix = 'docket-sandbox-';

/** Operations that the kernel performs; replaceable. */
interface Kernel {
  read(file: string): Promise<string>;
  /** Creates the directory, which the kernel fills with the files of a group. */
  makeGroup(path: string): Promise<void>;
}

const thisKernel: Kernel = { read: (file) => readFile(file, 'utf8'), makeGroup: (path) => mkdir(path) };

/** Creates memory cgroups below this process's group; returns null where the system does not allow it. */
export async function openMemoryGroups(limitBytes: number, kernel = thisKernel): Promise<MemoryGroups | null> {
  const [groups, mounts] = await Promise.all(
    ['/proc/self/cgroup', '/proc/self/mountinfo'].map((file) => kernel.read(file).catch(() => '')),
  );
  for (const parent of parentsIn(groups ?? '', mounts ?? '')) {
    await removeAbandoned(parent.directory);
    const pool = createPool(parent, limitBytes, kernel);
    try {
      const group = await pool.take();
      group.release();
      return pool;
    } catch {
      // try the next location, if there is one
    }
  }
  return null;
}

/**
 * Returns the groups that may have child groups. In version 1 that is the group of this process. In version 2 it is
 * also the systemd unit that contains it, because a version 2 group that has processes cannot limit child groups.
 */
export function parentsIn(groups: string, mounts: string): Parent[] {
  const found: Parent[] = [];
  const lines = groups.split('\n').map((line) => line.split(':'));
  const pathOf = (isWanted: (controllers: string) => boolean) =>
    lines
      .find(([, controllers = '']) => isWanted(controllers))
      ?.slice(2)
      .join(':');
  for (const line of mounts.split('\n')) {
    const [, , , root = '', point = '', ...rest] = line.split(' ');
    const [type, , options = ''] = rest.slice(rest.indexOf('-') + 1);
    if (type === 'cgroup' && options.split(',').includes('memory')) {
      const own = pathOf((controllers) => controllers.split(',').includes('memory'));
      const directory = directoryOf(root, point, own);
      if (directory !== null) found.push({ directory, version: first });
    }
    if (type === 'cgroup2') {
      const directory = directoryOf(
        root,
        point,
        pathOf((controllers) => controllers === ''),
      );
      if (directory === null) continue;
      found.push({ directory, version: second });
      if (/\.(?:service|scope)$/.test(dirname(directory)))
        found.push({ directory: dirname(directory), version: second });
    }
  }
  return found;
}

function directoryOf(root: string, point: string, own: string | undefined): string | null {
  if (own === undefined) return null;
  const below = relative(root, own);
  return below.startsWith('..') ? null : join(point, below);
}

/**
 * Creates a pool of reusable groups: a removed group keeps kernel memory as long as any page of a file is charged to
 * it.
 */
function createPool({ directory, version }: Parent, limitBytes: number, kernel: Kernel): MemoryGroups {
  const all: string[] = [];
  const free: string[] = [];
  const limits = new Map<string, number>();
  process.on('exit', () => {
    for (const path of all) removeNow(path);
  });

  async function make(): Promise<string> {
    // fails where it is already enabled or cannot be; setting the limit shows which
    if (version === second)
      await writeFile(join(directory, 'cgroup.subtree_control'), '+memory').catch(() => undefined);
    const path = join(directory, `${prefix}${process.pid}-${randomUUID()}`);
    await kernel.makeGroup(path);
    all.push(path);
    await limit(path, limitBytes);
    return path;
  }

  async function limit(path: string, bytes: number): Promise<void> {
    if (limits.get(path) === bytes) return;
    const settings = version.settings(bytes);
    // twice: version 1 refuses a limit above that of memory with swap, which is set after it
    for (const { file, value } of settings) await write(join(path, file), value).catch(() => undefined);
    for (const { file, value, isOptional } of settings) {
      const written = write(join(path, file), value);
      await (isOptional ? written.catch(() => undefined) : written);
    }
    limits.set(path, bytes);
  }

  return {
    async take() {
      const path = free.pop() ?? (await make());
      const killed = async () => Number(/^oom_kill (\d+)$/m.exec(await readEvents(path))?.[1] ?? 0);
      const before = await killed();
      return {
        add: (pid) => write(join(path, 'cgroup.procs'), String(pid)),
        limit: (bytes) => limit(path, bytes),
        hasOverrun: async () => (await killed()) > before,
        release: () => void free.push(path),
      };
    },
  };

  function readEvents(path: string): Promise<string> {
    return readFile(join(path, version.events), 'utf8');
  }
}

/** Writes to an existing file only: a folder that is not a cgroup would accept any new file. */
function write(path: string, value: string): Promise<void> {
  return writeFile(path, value, { flag: 'r+' });
}

/** Removes groups whose processes were killed, which are empty by now. */
async function removeAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const pid = new RegExp(`^${prefix}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) await rmdir(join(directory, name)).catch(() => undefined);
  }
}

function removeNow(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // a process in it has not ended yet; the next worker removes the group
  }
}
