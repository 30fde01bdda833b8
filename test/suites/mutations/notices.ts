import type { Mutation } from './list.ts';

const wakeUps = { project: 'unit', tests: ['db/wake-watchers'] } as const;
const duePoll = { project: 'unit', tests: ['lib/due-poll'] } as const;
const events = { project: 'integration', tests: ['db/jobs/job-events'] } as const;
const texts = { project: 'integration', tests: ['db/jobs/job-text'] } as const;
const polled = { project: 'unit', tests: ['db/jobs/polled-jobs'] } as const;
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
    name: 'a row stays in memory after its job changed',
    file: 'db/jobs/polled-jobs.ts',
    find: 'void (id === null ? jobs.clear() : jobs.delete(id))',
    replace: 'void id',
    ...polled,
  },
  {
    name: 'a row in memory is shown to any organization',
    file: 'db/jobs/polled-jobs.ts',
    find: 'row?.organizationId === owner.organizationId && ',
    replace: 'row !== null && ',
    ...polled,
  },
  {
    name: 'a process shows its own change only once it is notified of it',
    file: 'db/jobs/wake-watchers.ts',
    find: 'for (const changed of ownWatchers.get(pool) ?? []) changed(jobId);',
    replace: '',
    ...polled,
  },
  {
    name: 'a row is shown however long ago it was read',
    file: 'db/jobs/polled-jobs.ts',
    find: ' && performance.now() - known.readAt < maxMs',
    replace: '',
    ...polled,
  },
  {
    name: 'a process polls seldom for work although it may miss notices',
    file: 'db/work-notices.ts',
    find: 'listener.isListening() && ',
    replace: '',
    ...work,
  },
  {
    name: 'a failed poll is not repeated before the next quiet one',
    file: 'lib/due-poll.ts',
    find: 'busyAt = performance.now();\n      throw error;',
    replace: 'throw error;',
    ...duePoll,
  },
  {
    name: 'work whose lease expires is looked for seldom',
    file: 'lib/due-poll.ts',
    find: ' && now - busyAt >= busyMs',
    replace: '',
    ...duePoll,
  },
  {
    name: 'the live text of a job waits for the locks of others',
    file: 'db/for-worker/job-events.ts',
    find: "= 'skip locked'): Promise",
    replace: "= ''): Promise",
    ...texts,
  },
  {
    name: 'the leases of a worker wait for a step that is locked',
    file: 'db/for-worker/model-call-leases.ts',
    find: 'for no key update of job_steps skip locked',
    replace: 'for no key update of job_steps',
    ...texts,
  },
  {
    name: 'a call waits for its step while it holds its organization',
    file: 'db/for-worker/model-call-leases.ts',
    find: "if (!(await lockStep(client, call))) return { kind: 'superseded' };",
    replace: '',
    project: 'integration',
    tests: ['db/jobs/model-call-leases'],
  },
  {
    name: 'a call begins without its lease',
    file: 'db/for-worker/model-call-leases.ts',
    find: ", asked_until = now() + $8::float8 * interval '1 millisecond'",
    replace: ', asked_until = case when $8::float8 is null then now() else asked_until end',
    project: 'integration',
    tests: ['db/jobs/model-call-leases'],
  },
];
