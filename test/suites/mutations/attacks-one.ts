import type { Mutation } from './list.ts';

const servers = { project: 'integration', tests: ['clients/hostile-servers'] } as const;
const races = { project: 'integration', tests: ['db/retention/erasure-races'] } as const;

/** Checks on repository servers, forges and webhook receivers, and on deletions in progress. */
export const attackOneMutations: Mutation[] = [
  {
    name: 'a server that switches protocols holds a worker forever',
    file: 'lib/network/answer-to.ts',
    find: "request.on('close', () => reject(new Error('The connection ended without an answer.')));",
    replace: '',
    ...servers,
  },
  {
    name: 'links of GitLab to further pages are followed',
    file: 'activities/forges/gitlab-transport.ts',
    find: 'headers: {}, body',
    replace: 'headers: answer.headers, body',
    ...servers,
  },
  {
    name: 'an answer of a forge is parsed however many values it has',
    file: 'lib/network/egress.ts',
    find: 'if (problem !== null) throw new AnswerLimitError(`The answer ${problem}.`);',
    replace: '',
    ...servers,
  },
  {
    name: 'a page of a forge has any length',
    file: 'activities/forges/forge-http.ts',
    find: '.max(maxPageSize)',
    replace: '',
    ...servers,
  },
  {
    name: 'the address of a pull request has any length',
    file: 'activities/forges/forge-http.ts',
    find: '.max(2_000)',
    replace: '',
    ...servers,
  },
  {
    name: 'of two changes that wait for each other one fails',
    file: 'db/pool.ts',
    find: '!isDeadlock || tries === maxTries',
    replace: 'true',
    ...races,
  },
  {
    name: 'a copy of a repository has any number of refs',
    file: 'activities/git/remote.ts',
    find: 'if (truncated || refs > max)',
    replace: 'if (truncated)',
    project: 'integration',
    tests: ['clients/clone-limits'],
  },
  {
    name: 'a default branch has any name',
    file: 'activities/git/remote.ts',
    find: 'parsed.ok ? parsed.ref : null',
    replace: "value.slice('ref: refs/heads/'.length)",
    ...servers,
  },
];
