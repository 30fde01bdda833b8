import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { Result } from '../../../dashboard/jobs/result.tsx';
import type { Job, Step, Turn } from '../../../dashboard/http/types.ts';

const turn = { turn: 1, createdAt: '2026-11-21T10:00:00.000Z', endedAt: '2026-11-21T10:00:05.900Z' } as Turn;

const stepOf = (turn: number, step: number, changedFiles: number | null) => ({ turn, step, changedFiles }) as Step;
const steps = [stepOf(1, 1, 7), stepOf(1, 2, null), stepOf(2, 1, 9)];

function shown(prLink: string | null, incomplete: string | null): string {
  const pullRequest = prLink === null ? null : { state: 'merged', draft: false };
  const job = { status: 'completed', prLink, details: { failure: null, incomplete, pullRequest } } as Job;
  return renderToStaticMarkup(createElement(Result, { job, projectId: 'p', turn, steps }));
}

it('shows how a job ended, what it changed, and its pull request', () => {
  const completed = shown('https://forge/1', null);
  for (const text of ['>Completed<', 'took 5.9 s', '7 files changed', 'href="https://forge/1"', '>merged<'])
    expect(completed).toContain(text);
});

it('tells a change from none, and from one that is incomplete', () => {
  expect(shown(null, null)).toContain('>Completed without changes<');
  expect(shown(null, null)).not.toContain('<a ');
  const incomplete = shown('https://forge/1', 'One file is left.');
  for (const text of ['>Incomplete<', 'One file is left.', 'note-warn', 'href="https://forge/1"'])
    expect(incomplete).toContain(text);
});
