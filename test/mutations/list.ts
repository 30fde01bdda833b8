/** A check of the product, and the tests that fail without it. */
export interface Mutation {
  /** What no longer holds. */
  name: string;
  file: string;
  /** The text of the check: it stands in the file once. */
  find: string;
  replace: string;
  project: 'unit' | 'integration' | 'attacks';
  /** Filters of test files. */
  tests: readonly string[];
}

const temporal = { project: 'integration', tests: ['jobs/temporal-tls'] } as const;
const outcomes = { project: 'integration', tests: ['jobs/stopped', 'jobs/check'] } as const;

export const mutations: Mutation[] = [
  {
    name: 'workers keep a connection with the credentials of before a rotation',
    file: 'worker/run-workers.ts',
    find: 'for (const worker of workers) worker.connection = connection;',
    replace: '',
    ...temporal,
  },
  {
    name: 'the API keeps a connection with the credentials of before a rotation',
    file: 'lib/temporal-connection.ts',
    find: 'connection = open(next);',
    replace: '',
    ...temporal,
  },
  {
    name: 'a turn that a limit made finish counts as complete',
    file: 'activities/tools.ts',
    find: 'isLast ? finish.complete !== true : finish.complete === false',
    replace: 'finish.complete === false',
    ...outcomes,
  },
  {
    name: 'a partial change is no draft',
    file: 'activities/publisher.ts',
    find: 'job.draft || text.incomplete !== null',
    replace: 'job.draft',
    ...outcomes,
  },
];
