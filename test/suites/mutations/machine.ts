import type { Mutation } from './list.ts';

const home = { project: 'unit', tests: ['unit/local/home'] } as const;
const privateFolder = { project: 'unit', tests: ['unit/lib/private-folder'] } as const;
const compileCache = { project: 'integration', tests: ['integration/local/compile-cache'] } as const;
const fullDisk = { project: 'e2e', tests: ['e2e/faults/full-disk'] } as const;

/** Checks on the machine of `npm start`, on a full disk, and on a change whose base is gone. */
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
    ...privateFolder,
  },
  {
    name: 'compiled code is taken from a folder that others may replace',
    file: 'lib/compile-cache.ts',
    find: 'makePrivateFolder(dirname(folder));',
    replace: '',
    ...compileCache,
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
    find: 'if (isFirst) await checkBase(checkout.access, { base: base.branch, branch });',
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
  {
    name: 'operations that share a schema say any amount of it',
    file: 'search/read/openapi.ts',
    find: 'left -= details.length;',
    replace: 'void left;',
    project: 'unit',
    tests: ['search/read/openapi'],
  },
  {
    name: 'a body may have any number of names',
    file: 'lib/json-scan.ts',
    find: 'names.size + escapedNames > maxNames',
    replace: 'names.size < 0',
    project: 'integration',
    tests: ['assistant/large-questions'],
  },
  {
    name: 'the listing of a large tree is parsed without a break',
    file: 'activities/git/listed-entries.ts',
    find: 'const entriesPerTurn = 1_000;',
    replace: 'const entriesPerTurn = 2_000_000;',
    project: 'integration',
    tests: ['workspaces/listings-hold'],
  },
];
