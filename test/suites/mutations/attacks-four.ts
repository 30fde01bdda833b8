import type { Mutation } from './list.ts';

const foreignServer = { project: 'integration', tests: ['cli/http/foreign-server'] } as const;
const hidden = { project: 'integration', tests: ['sandbox/hidden-files'] } as const;
const limits = { project: 'integration', tests: ['sandbox/limits'] } as const;

/** Checks on what commands hide from measurements, on foreign servers and on other tabs. */
export const attackFourMutations: Mutation[] = [
  {
    name: 'files without a name are not measured',
    file: 'activities/sandbox/watch.ts',
    find: 'bytes += await heldBytes();',
    replace: 'void heldBytes;',
    ...hidden,
  },
  {
    name: 'files of a thread that outlives the first of its process are not measured',
    file: 'activities/sandbox/held-files.ts',
    find: 'for (const thread of threads) await lookAtDescriptors(thread);',
    replace: 'await lookAtDescriptors(`/proc/${pid}`);',
    ...hidden,
  },
  {
    name: 'what lies below a name that is no text is not measured',
    file: 'activities/sandbox/tree.ts',
    find: "encoding: 'latin1'",
    replace: "encoding: 'utf8'",
    ...hidden,
  },
  {
    name: 'files that cannot be measured count as nothing',
    file: 'activities/sandbox/held-files.ts',
    find: 'unreadable: unreadable.size + inSockets,',
    replace: 'unreadable: 0,',
    ...hidden,
  },
  {
    name: 'what others delete hides what a command sends through sockets',
    file: 'activities/sandbox/watch.ts',
    find: 'inSockets > 0 ? written : 0',
    replace: '0',
    ...hidden,
  },
  {
    name: 'the kernel ends the worker before a command',
    file: 'activities/sandbox/launcher.ts',
    find: "oom_score_adj`, '500')",
    replace: "oom_score_adj`, '0')",
    ...limits,
  },
  {
    name: 'the command line follows a server to another address',
    file: 'cli/http/api.ts',
    find: "{ redirect: 'manual' }",
    replace: "{ redirect: 'follow' }",
    ...foreignServer,
  },
  {
    name: 'a folder that the command line happens to be in leads it to any address',
    file: 'cli/http/settings.ts',
    find: "!env['DOCKET_HOME'] && !isOnThisMachine(baseUrl)",
    replace: 'false',
    project: 'unit',
    tests: ['cli/http/settings'],
  },
  {
    name: 'a server that ends each stream of events at once is asked without a pause',
    file: 'cli/http/events.ts',
    find: 'failures > 0 || last === before',
    replace: 'failures > 0',
    ...foreignServer,
  },
  {
    name: 'signing out leaves other tabs as they are',
    file: 'dashboard/queries.ts',
    find: 'onSignedOutElsewhere(() => {',
    replace: 'void (() => {',
    project: 'e2e',
    tests: ['e2e/dashboard/session'],
  },
  {
    name: 'a name may have no visible character',
    file: 'lib/inputs/administration.ts',
    find: "text === '' || /[^\\p{C}\\p{Z}]/u.test(text)",
    replace: 'true',
    project: 'unit',
    tests: ['lib/inputs/administration'],
  },
];
