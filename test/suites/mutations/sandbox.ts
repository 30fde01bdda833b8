import type { Mutation } from './list.ts';

const disks = { project: 'integration', tests: ['workspaces/job-disks'] } as const;
const limits = { project: 'integration', tests: ['sandbox/limits'] } as const;
const betweenJobs = { project: 'integration', tests: ['sandbox/between-jobs'] } as const;

/** What the kernel and the looks of the worker hold a command to. */
export const sandboxMutations: Mutation[] = [
  {
    name: 'the disk of a job has places for files without end',
    file: 'activities/workspaces/job-disks.ts',
    find: "'-N', String(inodes), ",
    replace: "'-N', String(2 * inodes), ",
    ...disks,
  },
  {
    name: 'the working copy of a job has no disk of its own',
    file: 'activities/workspaces/job-tree.ts',
    find: 'await deps.disks?.provide(job.tree, size);',
    replace: 'void size;',
    ...disks,
  },
  {
    name: 'the disk of a job is reserved in a file that keeps its name',
    file: 'activities/workspaces/job-disks.ts',
    find: 'await rm(image, { force: true });',
    replace: 'void image;',
    ...disks,
  },
  {
    name: 'the disk of a job outlives its working copy',
    file: 'activities/workspaces/job-directory.ts',
    find: 'await removeJobFolder(place);',
    replace: 'void [removeJobFolder, place];',
    ...disks,
  },
  {
    name: 'a job keeps a disk that is too small for its files',
    file: 'activities/workspaces/job-disks.ts',
    find: '(await capacityOf(tree)) >= needed + growthBytes / 2',
    replace: 'needed >= 0',
    ...disks,
  },
  {
    name: 'a working copy whose disk is gone counts as ready',
    file: 'activities/workspaces/job-tree.ts',
    find: 'present === wanted && (deps.disks === null || hasOwnDisk(job.tree))',
    replace: 'present === wanted',
    ...disks,
  },
  {
    name: 'a full disk of a job counts as a failure of the worker',
    file: 'activities/sandbox/watch.ts',
    find: 'if (isAlone && isDiskFull(tree)) return true;',
    replace: '',
    ...disks,
  },
  {
    name: 'a worker starts though it cannot reserve the disks of jobs',
    file: 'activities/workspaces/job-disks.ts',
    find: 'throw new NoJobDisksError(',
    replace: 'void new NoJobDisksError(',
    ...disks,
  },
  {
    name: 'no memory group holds a command',
    file: 'activities/sandbox/launcher.ts',
    find: 'await group?.add(child.pid);',
    replace: '',
    ...limits,
  },
  {
    name: 'the processes of a command are not limited',
    file: 'activities/sandbox/profile.ts',
    find: '`--nproc=${limits.processes}`,',
    replace: '',
    ...limits,
  },
  {
    name: 'the tree is not measured before a command',
    file: 'activities/sandbox/watch.ts',
    find: '(await sizeBefore) + limits.diskBytes',
    replace: 'limits.diskBytes',
    ...limits,
  },
  {
    name: 'jobs share a folder for temporary files',
    file: 'activities/sandbox/profile.ts',
    find: "...size, '--perms', '1777', '--tmpfs', '/tmp'],",
    replace: "'--bind', '/dev/shm', '/tmp'],",
    ...betweenJobs,
  },
  {
    name: 'a tree that others pushed is listed before its size is known',
    file: 'activities/workspaces/merge-trees.ts',
    find: 'await checkTree(git, { gitDir, tree: theirs, limits, signal });',
    replace: '',
    project: 'integration',
    tests: ['clients/publish-later'],
  },
  {
    name: 'git has no limit on its memory',
    file: 'activities/git/git-process.ts',
    find: 'maxMemoryBytes === null ?',
    replace: 'maxMemoryBytes !== 0 ?',
    project: 'integration',
    tests: ['clients/clone-limits'],
  },
  {
    name: 'git in a command trusts other authorities than the worker',
    file: 'activities/sandbox/profile.ts',
    find: "  'GIT_SSL_CAINFO',\n",
    replace: '',
    project: 'integration',
    tests: ['sandbox/tls'],
  },
  {
    name: 'a connection of the proxy is two pipelines',
    file: 'activities/sandbox/proxy.ts',
    find: 'await pipeline(client, server, client).catch(() => undefined);',
    replace: 'await Promise.all([pipeline(client, server), pipeline(server, client)]).catch(() => undefined);',
    project: 'integration',
    tests: ['sandbox/proxy-limits'],
  },
];
