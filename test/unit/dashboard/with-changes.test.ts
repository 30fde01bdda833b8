import { expect, it } from 'vitest';
import { withChanges } from '../../../dashboard/jobs/with-changes.ts';
import type { ListedJob } from '../../../dashboard/http/types.ts';

function job(id: string, minute: number, change: Partial<ListedJob> = {}): ListedJob {
  return {
    id,
    status: 'active',
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

it('changes a job where it stands', () => {
  const changed = withChanges(pages, [job('a', 1, { status: 'failed' })], {});
  expect(idsOf(changed)).toEqual([['c', 'b'], ['a']]);
  expect(changed[1]?.jobs[0]?.status).toBe('failed');
});

it('puts new jobs in front, the newest first', () => {
  expect(idsOf(withChanges(pages, [job('d', 4), job('e', 5)], {}))).toEqual([['e', 'd', 'c', 'b'], ['a']]);
});

it('leaves out an old job that was on no page yet, and what the filters exclude', () => {
  expect(idsOf(withChanges(pages, [job('old', 0)], {}))).toEqual([['c', 'b'], ['a']]);
  const filters = { status: 'active' as const, project: 'p' };
  expect(idsOf(withChanges(pages, [job('c', 3, { status: 'completed' })], filters))).toEqual([['b'], ['a']]);
  expect(idsOf(withChanges(pages, [job('d', 4, { projectId: 'q' })], filters))).toEqual([['c', 'b'], ['a']]);
});
