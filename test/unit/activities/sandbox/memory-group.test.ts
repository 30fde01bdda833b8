import { expect, it } from 'vitest';
import { parentsIn } from '../../../../activities/sandbox/memory-group.ts';

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
