import { text } from 'node:stream/consumers';
import { createElement, type ReactNode } from 'react';
import { prerenderToNodeStream } from 'react-dom/static';
import { expect, it } from 'vitest';
import { Result, ResultFacts } from '../../../../dashboard/jobs/result.tsx';
import type { Job, Step, Turn } from '../../../../dashboard/http/types.ts';

const times = { createdAt: '2026-11-21T10:00:00.000Z', endedAt: '2026-11-21T10:00:05.900Z' };
const turn = { turn: 1, ...times, endedBy: null } as Turn;

const stepOf = (turn: number, step: number, changedFiles: number | null) => ({ turn, step, changedFiles }) as Step;
const steps = [stepOf(1, 1, 7), stepOf(1, 2, null), stepOf(2, 1, 9)];

type Change = Parameters<typeof Result>[0]['change'];

/** Renders after every part that is loaded on demand has arrived. */
async function render(element: ReactNode): Promise<string> {
  const { prelude } = await prerenderToNodeStream(element);
  const html = await text(prelude);
  return html.replaceAll(/<!--.*?-->/g, '');
}

function shown(prLink: string | null, incomplete: string | null, change: Change = null, message = 'Done.') {
  const pullRequest = prLink === null ? null : { id: 'pr_1', number: 12, state: 'merged', draft: false };
  const job = { status: 'completed', prLink, details: { failure: null, incomplete, message, pullRequest } } as Job;
  return render(createElement(Result, { job, projectId: 'p', turn, steps, change, onShow: () => {} }));
}

it('shows how a job ended, what it changed, and its pull request', async () => {
  const completed = await shown('https://forge/1', null);
  for (const text of ['>Completed<', 'took 5.9 s', '7 files changed', 'href="/pulls/pr_1"', '>merged<'])
    expect(completed).toContain(text);
  expect(completed).toContain('PR #12');
});

it('shows the message of the agent, and only the beginning of a long one', async () => {
  expect(await shown(null, null, null, 'Renamed `a`.')).toContain('Renamed <code>a</code>.');
  expect(await shown(null, null)).not.toContain('Show the whole message');
  const long = await shown(null, null, null, 'word '.repeat(400));
  expect(long).toContain('Show the whole message');
  expect(long.match(/word/g)).toHaveLength(300);
});

it('shows the lines of the change once they are known', async () => {
  const counted = { changedFiles: 8, additions: 1_014, deletions: 13 };
  const html = await shown('https://forge/1', null, counted);
  expect(html.replaceAll(/<[^>]*>/g, '')).toContain('8 files changed +1,014 −13');
  const uncounted = await shown('https://forge/1', null, { changedFiles: 8, additions: null, deletions: null });
  expect(uncounted).toContain('8 files changed');
  expect(uncounted).not.toContain('+');
});

it('tells a change from none, and from one that is incomplete', async () => {
  expect(await shown(null, null)).toContain('>Completed without changes<');
  expect(await shown(null, null)).not.toContain('<a ');
  expect(await shown(null, null)).toContain('note-warn');
  const incomplete = await shown('https://forge/1', 'One file is left.');
  for (const text of ['>Incomplete<', 'One file is left.', 'note-warn', 'href="/pulls/pr_1"'])
    expect(incomplete).toContain(text);
});

it('names who canceled a job', async () => {
  const endedBy = { name: 'Anna', keyId: 'k' };
  const facts = createElement(() =>
    ResultFacts({ turn: { ...turn, endedBy }, steps: [], change: null, hasFailed: true }),
  );
  expect(await render(facts)).toMatch(/^By Anna · /);
});

it('names the step and the attempt at which a job failed', async () => {
  const shownAt = (attempts: number) =>
    render(
      createElement(() =>
        ResultFacts({ turn, steps: [{ ...stepOf(1, 3, null), attempts }], change: null, hasFailed: true }),
      ),
    );
  expect(await shownAt(1)).toMatch(/took 5\.9 s · ended at step 3$/);
  expect(await shownAt(4)).toMatch(/ended at step 3 in attempt 4$/);
});
