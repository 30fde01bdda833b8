import type { Mutation } from './list.ts';

const home = { project: 'unit', tests: ['unit/local/home'] } as const;
const caches = { project: 'unit', tests: ['unit/lib/private-folder', 'unit/worker/compile-cache'] } as const;
const fullDisk = { project: 'e2e', tests: ['e2e/full-disk'] } as const;

/** What keeps the machine of `npm start` to its owner, the stack on a full disk, and a change whose base is gone. */
export const machineMutations: Mutation[] = [
  {
    name: 'files of an existing home stay readable by others',
    file: 'local/narrow-modes.ts',
    find: "await setMode(path, 'file', 0o600)",
    replace: 'await Promise.resolve(path)',
    ...home,
  },
  {
    name: 'a home that everybody may write is used',
    file: 'local/home.ts',
    find: ' || (mode & 0o002) !== 0',
    replace: '',
    ...home,
  },
  {
    name: 'programs are taken from a cache that everybody may write',
    file: 'lib/private-folder.ts',
    find: ' && (found.mode & 0o002) === 0',
    replace: '',
    ...caches,
  },
  {
    name: 'compiled code is taken from a folder that others may replace',
    file: 'worker/compile-cache.ts',
    find: 'makePrivateFolder(dirname(folder));',
    replace: '',
    ...caches,
  },
  {
    name: "Temporal's namespace is shown to every organization",
    file: 'api/administration/routes-session.ts',
    find: 'temporalNamespace: null',
    replace: 'temporalNamespace: deps.temporalNamespace',
    project: 'integration',
    tests: ['api/operations'],
  },
  {
    name: 'a pull request is opened onto a base branch that was deleted',
    file: 'activities/publish/publisher.ts',
    find: 'await checkBase(checkout.access, { base: base.branch, branch });',
    replace: '',
    project: 'integration',
    tests: ['jobs/repository-failures'],
  },
  {
    name: 'a start on a full disk does not say so',
    file: 'local/home.ts',
    find: 'checkDisk(directory);',
    replace: '',
    ...fullDisk,
  },
];
