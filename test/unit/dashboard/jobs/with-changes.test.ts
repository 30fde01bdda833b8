import { expect, it } from 'vitest';
import { stateOf, withChanges } from '../../../../dashboard/jobs/list/with-changes.ts';
import type { ListedJob } from '../../../../dashboard/http/types.ts';

function job(id: string, minute: number, change: Partial<ListedJob> = {}): ListedJob {
  return {
    id,
    status: 'active',
    details: { phase: 'running', failure: null },
    projectId: 'p',
    createdAt: `2026-11-21T10:0${minute}:00.000Z`,
    ...change,
  } as ListedJob;
}

const pages = [
  { jobs: [job('c', 3), job('b', 2)], nextCursor: 'x' },
  { jobs: [job('a', 1)], nextCursor: null },
];
const idsOf = (changed: typeof pages) => changed.map((page) => page.jobs.map(({ id }) => id));

it('updates a job in place', () => {
  const changed = withChanges(pages, [job('a', 1, { status: 'failed' })], {});
  expect(idsOf(changed)).toEqual([['c', 'b'], ['a']]);
  expect(changed[1]?.jobs[0]?.status).toBe('failed');
});

it('puts new jobs first, newest first', () => {
  expect(idsOf(withChanges(pages, [job('d', 4), job('e', 5)], {}))).toEqual([['e', 'd', 'c', 'b'], ['a']]);
});

it('omits what the filters exclude', () => {
  const filters = { status: 'running' as const, project: 'p' };
  expect(idsOf(withChanges(pages, [job('c', 3, { status: 'completed' })], filters))).toEqual([['b'], ['a']]);
  expect(idsOf(withChanges(pages, [job('d', 4, { projectId: 'q' })], filters))).toEqual([['c', 'b'], ['a']]);
});

it('inserts an old job that now matches the filters where it belongs', () => {
  const failed = pages.map((page) => ({
    ...page,
    jobs: page.jobs.map((job) => ({ ...job, status: 'failed' as const })),
  }));
  const filters = { status: 'failed' as const };
  const between = job('bc', 2, { status: 'failed', createdAt: '2026-11-21T10:02:30.000Z' });
  expect(idsOf(withChanges(failed, [between], filters))).toEqual([['c', 'bc', 'b'], ['a']]);
  const oldest = job('old', 0, { status: 'failed' });
  expect(idsOf(withChanges(failed, [oldest], filters))).toEqual([
    ['c', 'b'],
    ['a', 'old'],
  ]);
  expect(idsOf(withChanges([{ jobs: [], nextCursor: null }], [oldest], filters))).toEqual([['old']]);
});

it('tells queued jobs from running ones, and cancelled ones from failed ones', () => {
  const details = (phase: string | null, category?: string) =>
    ({ phase, failure: category === undefined ? null : { category } }) as ListedJob['details'];
  expect(stateOf(job('a', 1, { details: details('queued') }))).toBe('queued');
  expect(stateOf(job('a', 1, { details: details('publishing') }))).toBe('running');
  expect(stateOf(job('a', 1, { status: 'failed', details: details(null, 'internal') }))).toBe('failed');
  expect(stateOf(job('a', 1, { status: 'failed', details: details(null, 'cancelled') }))).toBe('cancelled');
  expect(stateOf(job('a', 1, { status: 'archived', details: details(null, 'cancelled') }))).toBe('archived');
  const cancelled = job('b', 2, { status: 'failed', details: details(null, 'cancelled') });
  expect(idsOf(withChanges([{ jobs: [], nextCursor: null }], [cancelled], { status: 'failed' }))).toEqual([[]]);
  expect(idsOf(withChanges([{ jobs: [], nextCursor: null }], [cancelled], { failure: 'cancelled' }))).toEqual([['b']]);
});

it('keeps a list of the oldest first in its order, and omits newer ones that are not loaded', () => {
  const oldest = [{ jobs: [job('a', 1), job('c', 3)], nextCursor: 'x' }];
  const filters = { order: 'oldest' as const };
  expect(idsOf(withChanges(oldest, [job('b', 2), job('d', 4)], filters))).toEqual([['a', 'b', 'c']]);
  expect(idsOf(withChanges([{ ...oldest[0]!, nextCursor: null }], [job('d', 4)], filters))).toEqual([['a', 'c', 'd']]);
});

it('omits a job that is older than all that are loaded while there are more', () => {
  expect(idsOf(withChanges(pages.slice(0, 1), [job('old', 0)], {}))).toEqual([['c', 'b']]);
  expect(idsOf(withChanges([{ jobs: [], nextCursor: 'x' }], [job('new', 5)], {}))).toEqual([['new']]);
});

it('keeps only jobs that were started by the person of the filter', () => {
  const by = (name: string) => ({ startedBy: { name, keyId: 'k' } });
  const changes = [job('a', 1, by('Anna')), job('b', 2, by('Ben')), job('c', 3, { startedBy: null })];
  expect(idsOf(withChanges([{ jobs: [], nextCursor: null }], changes, { startedBy: 'Anna' }))).toEqual([['a']]);
});
