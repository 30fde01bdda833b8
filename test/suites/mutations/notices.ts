import type { Mutation } from './list.ts';

const wakeUps = { project: 'unit', tests: ['db/wake-watchers'] } as const;
const looks = { project: 'unit', tests: ['lib/share-looks'] } as const;
const events = { project: 'integration', tests: ['db/job-events'] } as const;
const work = { project: 'integration', tests: ['db/work-notices'] } as const;

/** Checks on wake-ups of watchers and workers, and on changes without a notice. */
export const noticeMutations: Mutation[] = [
  {
    name: 'watchers are notified from the share of connections of one request',
    file: 'db/jobs/wake-watchers.ts',
    find: 'outsideRequests(() => void announce(pool, first))',
    replace: 'void announce(pool, first)',
    ...wakeUps,
  },
  {
    name: 'a notification that failed ends those of the process',
    file: 'db/jobs/wake-watchers.ts',
    find: '.catch(() => undefined)',
    replace: '',
    ...wakeUps,
  },
  {
    name: 'watchers are notified before the commit',
    file: 'db/for-worker/job-writes.ts',
    find: 'const { rowCount } = await pool.query(statement, [jobId, ...values]);\n    if (rowCount === 1) wakeWatchers(pool, jobId);',
    replace: 'wakeWatchers(pool, jobId);\n    const { rowCount } = await pool.query(statement, [jobId, ...values]);',
    ...events,
  },
  {
    name: 'events whose writer died before it notified are not found',
    file: 'db/jobs/job-event-wakeups.ts',
    find: 'seen.get(jobId) === lastSeq',
    replace: 'seen.has(jobId)',
    ...events,
  },
  {
    name: 'a process looks seldom for work although it may miss notices',
    file: 'db/work-notices.ts',
    find: 'listener.isListening() && ',
    replace: '',
    ...work,
  },
  {
    name: 'a failed look is not repeated before the next quiet one',
    file: 'lib/share-looks.ts',
    find: 'busyAt = performance.now();\n      throw error;',
    replace: 'throw error;',
    ...looks,
  },
  {
    name: 'work whose lease expires is looked for seldom',
    file: 'lib/share-looks.ts',
    find: ' && now - busyAt >= busyMs',
    replace: '',
    ...looks,
  },
];
