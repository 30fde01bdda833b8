import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { Result, ResultFacts } from '../../../dashboard/jobs/result.tsx';
import type { Job, Step, Turn } from '../../../dashboard/http/types.ts';

const times = { createdAt: '2026-11-21T10:00:00.000Z', endedAt: '2026-11-21T10:00:05.900Z' };
const turn = { turn: 1, ...times, endedBy: null } as Turn;

const stepOf = (turn: number, step: number, changedFiles: number | null) => ({ turn, step, changedFiles }) as Step;
const steps = [stepOf(1, 1, 7), stepOf(1, 2, null), stepOf(2, 1, 9)];

type Change = Parameters<typeof Result>[0]['change'];

function shown(prLink: string | null, incomplete: string | null, change: Change = null, message = 'Done.'): string {
  const pullRequest = prLink === null ? null : { id: 'pr_1', number: 12, state: 'merged', draft: false };
  const job = { status: 'completed', prLink, details: { failure: null, incomplete, message, pullRequest } } as Job;
  return renderToStaticMarkup(createElement(Result, { job, projectId: 'p', turn, steps, change, onShow: () => {} }));
}

it('shows how a job ended, what it changed, and its pull request', () => {
  const completed = shown('https://forge/1', null);
  for (const text of ['>Completed<', 'took 5.9 s', '7 files changed', 'href="/pulls/pr_1"', '>merged<'])
    expect(completed).toContain(text);
  expect(completed).toContain('PR #12');
});

it('shows the message of the agent, and only the beginning of a long one', () => {
  expect(shown(null, null, null, 'Renamed `a`.')).toContain('Renamed `a`.');
  expect(shown(null, null)).not.toContain('Show the whole message');
  const long = shown(null, null, null, 'word '.repeat(400));
  expect(long).toContain('Show the whole message');
  expect(long.match(/word /g)).toHaveLength(300);
});

it('shows the lines of the change once they are known', () => {
  const counted = { changedFiles: 8, additions: 1_014, deletions: 13 };
  const text = shown('https://forge/1', null, counted).replaceAll(/<[^>]*>/g, '');
  expect(text).toContain('8 files changed +1,014 −13');
  const uncounted = shown('https://forge/1', null, { changedFiles: 8, additions: null, deletions: null });
  expect(uncounted).toContain('8 files changed');
  expect(uncounted).not.toContain('+');
});

it('tells a change from none, and from one that is incomplete', () => {
  expect(shown(null, null)).toContain('>Completed without changes<');
  expect(shown(null, null)).not.toContain('<a ');
  expect(shown(null, null)).toContain('note-warn');
  const incomplete = shown('https://forge/1', 'One file is left.');
  for (const text of ['>Incomplete<', 'One file is left.', 'note-warn', 'href="/pulls/pr_1"'])
    expect(incomplete).toContain(text);
});

it('names who canceled a job', () => {
  const endedBy = { name: 'Anna', keyId: 'k' };
  const facts = createElement(() =>
    ResultFacts({ turn: { ...turn, endedBy }, steps: [], change: null, hasFailed: true }),
  );
  expect(renderToStaticMarkup(facts)).toMatch(/^By Anna · /);
});

it('names the step and the attempt at which a job failed', () => {
  const shownAt = (attempts: number) =>
    renderToStaticMarkup(
      createElement(() =>
        ResultFacts({ turn, steps: [{ ...stepOf(1, 3, null), attempts }], change: null, hasFailed: true }),
      ),
    );
  expect(shownAt(1)).toMatch(/took 5\.9 s · ended at step 3$/);
  expect(shownAt(4)).toMatch(/ended at step 3 in attempt 4$/);
});
