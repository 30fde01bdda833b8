import type { Mutation } from './list.ts';

const stored = { project: 'unit', tests: ['dashboard/stored-words'] } as const;

/** Checks on erased conversations, descriptions and concurrent operations. */
export const attackThreeMutations: Mutation[] = [
  {
    name: 'a conversation that was deleted comes back with its answer',
    file: 'db/sites/threads.ts',
    find: "await pool.query({\n      name: 'record-turn',",
    replace: `await open({ id, organizationId }, { threadId, fp: '' }).catch(() => {});
    await pool.query({
      name: 'record-turn',`,
    project: 'integration',
    tests: ['db/sites/threads'],
  },
  {
    name: 'a link signs in after everybody was signed out',
    file: 'db/organizations/sessions.ts',
    find: "'delete from sign_in_links using api_keys where api_keys.id = key_id and organization_id = $1'",
    replace: "'select from sign_in_links where $1 = $1'",
    project: 'integration',
    tests: ['api/access/session'],
  },
  {
    name: 'what a killed API process copied of pages stays',
    file: 'api/assistant/site-indexes.ts',
    find: 'if (Date.now() - usedAtMs > abandonedAfterMs)',
    replace: 'if (usedAtMs < 0)',
    project: 'unit',
    tests: ['api/assistant/site-indexes'],
  },
  {
    name: 'an unused copy of a repository stays while there is room',
    file: 'activities/workspaces/bound-mirrors.ts',
    find: 'bytes > limitBytes ? keepUsedMs : forgetMs',
    replace: 'bytes > limitBytes ? keepUsedMs : Infinity',
    project: 'integration',
    tests: ['clients/tidy'],
  },
  {
    name: 'branches without a common commit are merged',
    file: 'activities/workspaces/merge-branch.ts',
    find: 'if ((await git.run(common)).exitCode === 1) {',
    replace: 'if ((await git.run(common)).exitCode === 2) {',
    project: 'integration',
    tests: ['workspaces/merge-branch'],
  },
  {
    name: 'packages run install scripts without permission',
    file: '.npmrc',
    find: 'strict-allow-scripts=true',
    replace: 'strict-allow-scripts=false',
    project: 'unit',
    tests: ['unit/security'],
  },
  {
    name: 'commands may swap in a memory group of version 2',
    file: 'activities/sandbox/memory-group.ts',
    find: "{ file: 'memory.swap.max', value: '0', isOptional: true },",
    replace: '',
    project: 'unit',
    tests: ['activities/sandbox/memory-group'],
  },
  {
    name: 'a folder that is no group counts as one',
    file: 'activities/sandbox/memory-group.ts',
    find: "writeFile(path, value, { flag: 'r+' })",
    replace: 'writeFile(path, value)',
    project: 'unit',
    tests: ['activities/sandbox/memory-group'],
  },
  {
    name: 'a start keeps silent about a secret of its home that is gone',
    file: 'local/home.ts',
    find: 'given === null && (await readOrNull(join(directory, name))) === null',
    replace: 'false',
    project: 'unit',
    tests: ['unit/local/home'],
  },
  {
    name: 'a grant counts as revoked while a wider one remains',
    file: 'lib/inputs/grants.ts',
    find: 'wide.endsWith(below) && resource.startsWith(wide.slice(0, -1))',
    replace: 'wide === resource',
    project: 'unit',
    tests: ['lib/inputs/grants'],
  },
  {
    name: 'a line of a bundle has no end',
    file: 'db/jobs/bundle-file.ts',
    find: "if (rest.length > maxLineLength) throw new BundleFileError('The file is not a job bundle.');",
    replace: '',
    project: 'integration',
    tests: ['db/jobs/bundle-file'],
  },
  {
    name: 'the dashboard loads an image that a stored answer names',
    file: 'dashboard/components/markdown-text.tsx',
    find: 'img: ({ alt, src })',
    replace: 'figure: ({ alt, src })',
    ...stored,
  },
  {
    name: 'a stored answer leads to a host without a scheme',
    file: 'dashboard/components/markdown-text.tsx',
    find: '/^(?:https?|mailto):/i.test(address)',
    replace: "address !== ''",
    ...stored,
  },
];
