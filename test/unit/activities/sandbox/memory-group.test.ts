import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openMemoryGroups, parentsIn } from '../../../../activities/sandbox/memory-group.ts';
import { removeDirectory, temporaryDirectory } from '../../../support/temporary-directory.ts';

const memory = '36 25 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory';
const unified = '30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate';
const directories = (groups: string, mounts: string) => parentsIn(groups, mounts).map(({ directory }) => directory);

it.each([
  ['its own group of version 1', '4:memory:/worker\n1:cpu:/\n0::/\n', [memory], ['/sys/fs/cgroup/memory/worker']],
  [
    'that of controllers that share a hierarchy',
    '4:cpu,memory:/worker\n',
    ['36 25 0:31 / /cg rw shared:5 - cgroup cgroup rw,cpu,memory'],
    ['/cg/worker'],
  ],
  ['its own group of version 2', '0::/user.slice\n', [unified], ['/sys/fs/cgroup/user.slice']],
  [
    'the unit whose delegated group it is in',
    '0::/system.slice/docket.service/worker\n',
    [unified],
    ['/sys/fs/cgroup/system.slice/docket.service/worker', '/sys/fs/cgroup/system.slice/docket.service'],
  ],
  [
    'not the slice of a unit that it is in itself',
    '0::/system.slice/docket.service\n',
    [unified],
    ['/sys/fs/cgroup/system.slice/docket.service'],
  ],
  [
    'what a container sees of the group',
    '4:memory:/docker/a/worker\n',
    ['36 25 0:31 /docker/a /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory'],
    ['/sys/fs/cgroup/memory/worker'],
  ],
  [
    'nothing where the mount shows another part',
    '0::/../b\n',
    ['30 25 0:26 /a /sys/fs/cgroup rw - cgroup2 cgroup2 rw'],
    [],
  ],
  ['nothing without a mount', '0::/\n', [], []],
])('finds %s', (_what, groups, mounts, expected) => {
  expect(directories(groups, mounts.join('\n'))).toEqual(expected);
});

/** The files that a kernel with cgroup v2 creates in each group. */
const files = ['cgroup.procs', 'memory.max', 'memory.swap.max', 'memory.oom.group'];

/** A service unit with the group that the worker is in; only groups below the unit get a memory limit. */
async function openUnit() {
  const root = temporaryDirectory();
  const unit = join(root, 'docket.service');
  await mkdir(join(unit, 'worker'), { recursive: true });
  await writeFile(join(unit, 'cgroup.subtree_control'), '');
  return {
    unit,
    groups: async () => (await readdir(unit)).filter((name) => name.startsWith('docket-sandbox-')).sort(),
    kernel: {
      read: async (file: string) =>
        file.endsWith('mountinfo') ? `30 25 0:26 / ${root} rw - cgroup2 cgroup2 rw` : '0::/docket.service/worker\n',
      async makeGroup(path: string) {
        await mkdir(path);
        if (path.startsWith(join(unit, 'worker'))) return;
        for (const file of files) await writeFile(join(path, file), '');
        await writeFile(join(path, 'memory.events'), 'low 0\noom 0\noom_kill 0\n');
      },
    },
    [Symbol.asyncDispose]: () => removeDirectory(root),
  };
}

describe('memory groups (cgroup v2)', () => {
  it('limit memory without swap, report what the kernel killed, and are reused', async () => {
    await using unit = await openUnit();
    const pool = (await openMemoryGroups(1_000_000, unit.kernel))!;
    const group = await pool.take();
    const [name = '', ...others] = await unit.groups();
    expect(others).toEqual([]);
    const read = (file: string) => readFile(join(unit.unit, name, file), 'utf8');
    expect(await Promise.all(files.slice(1).map(read))).toEqual(['1000000', '0', '1']);
    expect(await readFile(join(unit.unit, 'cgroup.subtree_control'), 'utf8')).toBe('+memory');
    await group.add(4711);
    expect(await read('cgroup.procs')).toBe('4711');

    expect(await group.hasOverrun()).toBe(false);
    await writeFile(join(unit.unit, name, 'memory.events'), 'low 0\noom 3\noom_kill 1\n');
    expect(await group.hasOverrun()).toBe(true);
    group.release();
    const again = await pool.take();
    expect(await again.hasOverrun()).toBe(false);
    expect(await unit.groups()).toEqual([name]);
    await pool.take();
    expect(await unit.groups()).toHaveLength(2);
  });

  it('are removed when their worker was killed, but not while it runs', async () => {
    await using unit = await openUnit();
    const [dead, alive] = [2 ** 22 + 1, process.pid].map((pid) => join(unit.unit, `docket-sandbox-${pid}-x`));
    for (const path of [dead!, alive!]) await mkdir(path);
    await openMemoryGroups(1_000_000, unit.kernel);
    expect([dead, alive].map((path) => existsSync(path!))).toEqual([false, true]);
  });

  it('are not considered usable if the kernel gives them no memory limit', async () => {
    await using unit = await openUnit();
    const makeGroup = async (path: string) => {
      await unit.kernel.makeGroup(path);
      await rm(join(path, 'memory.max'), { force: true });
    };
    expect(await openMemoryGroups(1_000_000, { ...unit.kernel, makeGroup })).toBeNull();
  });
});
