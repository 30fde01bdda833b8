import { expect, it } from 'vitest';
import type { ListedJob, Session } from '../../../dashboard/http/types.ts';
import { createNoticeOnce, isStartedBy, noticeOf } from '../../../dashboard/notifications/notice-of.ts';

const began = Date.parse('2026-11-27T10:00:00.000Z');
const later = '2026-11-27T10:00:01.000Z';

const jobOf = (details: object, rest: object = {}) =>
  ({
    id: 'job_a',
    status: 'completed',
    prompt: 'Fix the typo.',
    endedAt: later,
    details: { title: 'Fix\u202e it', failure: null, waiting: null, incomplete: null, ...details },
    ...rest,
  }) as ListedJob;

it('tells how a job ended, or what it waits for', () => {
  const titleOf = (details: object) => noticeOf(jobOf(details), began)?.title;
  expect(titleOf({})).toBe('Completed: Fix⟨U+202E⟩ it');
  expect(titleOf({ title: null })).toBe('Completed: Fix the typo.');
  expect(noticeOf(jobOf({ failure: { category: 'internal', title: 'It broke' } }), began)).toMatchObject({
    title: 'Failed: Fix⟨U+202E⟩ it',
    body: 'It broke',
  });
  expect(titleOf({ failure: { category: 'cancelled', title: 'x' } })).toMatch(/^Cancelled: /);
  const waiting = { for: 'answer', question: 'Which license?', since: later };
  const asked = jobOf({ waiting }, { status: 'active', endedAt: null });
  expect(noticeOf(asked, began)).toMatchObject({ title: 'Waiting: Fix⟨U+202E⟩ it', body: 'Which license?' });
});

it('has nothing to tell of a job that runs, was archived, or ended before', () => {
  expect(noticeOf(jobOf({}, { status: 'active', endedAt: null }), began)).toBeNull();
  expect(noticeOf(jobOf({}, { status: 'archived' }), began)).toBeNull();
  // such as a merge of its pull request later
  expect(noticeOf(jobOf({}), Date.parse(later))).toBeNull();
});

it('is returned once for each end of a job', () => {
  const noticeOnce = createNoticeOnce();
  const ends = [later, later, '2026-11-27T10:00:02.000Z', later];
  expect(ends.map((endedAt) => noticeOnce(jobOf({}, { endedAt }), began) !== null)).toEqual([true, false, true, false]);
});

it('tells the jobs of a person from those of others with the same key', () => {
  const startedBy = { name: 'Anna', keyId: 'k' };
  const isFor = (session: Pick<Session, 'keyId' | 'person'>) => isStartedBy({ startedBy }, session as Session);
  expect(
    [
      { keyId: 'k', person: 'Anna' },
      { keyId: 'k', person: null },
    ].map(isFor),
  ).toEqual([true, true]);
  expect(
    [
      { keyId: 'k', person: 'Ben' },
      { keyId: 'l', person: 'Anna' },
    ].map(isFor),
  ).toEqual([false, false]);
  expect(isStartedBy({ startedBy: null }, { keyId: 'k', person: null } as Session)).toBe(false);
});
