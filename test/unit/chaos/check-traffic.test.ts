import { expect, it } from 'vitest';
import { checkRepeats, repeatedCalls } from '../../suites/chaos/checks/check-traffic.ts';

const callsAt = (job: number, step: number, ...times: number[]) =>
  times.map((atMs) => ({ job, step, atMs, status: 200 }));

it('counts repeated calls of a step, except those that the model refused', () => {
  const calls = [
    ...callsAt(1, 1, 0, 5_000, 9_000),
    ...callsAt(1, 2, 12_000),
    { job: 1, step: 2, atMs: 0, status: 503 },
  ];

  expect(repeatedCalls(calls)).toEqual([
    { job: 1, step: 1, atMs: 0, againMs: 5_000 },
    { job: 1, step: 1, atMs: 5_000, againMs: 9_000 },
  ]);
});

it('accepts a call repeated after a kill that hit its job', () => {
  expect(checkRepeats(repeatedCalls(callsAt(1, 1, 10_000, 15_000)), () => [{ atMs: 10_500 }])).toEqual([]);
});

it('accepts a call that reached the model only after its worker was gone', () => {
  expect(checkRepeats(repeatedCalls(callsAt(1, 1, 10_000, 15_000)), () => [{ atMs: 9_900 }])).toEqual([]);
});

it.each([
  ['no job', []],
  ['another job', [{ job: 2, atMs: 10_500 }]],
  ['the job only before', [{ job: 1, atMs: 5_000 }]],
  ['the job only afterwards', [{ job: 1, atMs: 15_500 }]],
])('reports a call that was repeated where kills had hit %s', (_, hits) => {
  const hitsOf = (index: number) => hits.filter(({ job }) => job === index);

  expect(checkRepeats(repeatedCalls(callsAt(1, 3, 10_000, 15_000)), hitsOf)).toEqual([
    'step 3 of job 1 was asked for again though no kill had hit the job',
  ]);
});

it('reports a second repetition after one hit', () => {
  const calls = callsAt(1, 3, 10_000, 10_400, 10_800);

  expect(checkRepeats(repeatedCalls(calls), () => [{ atMs: 10_200 }])).toHaveLength(1);
  expect(checkRepeats(repeatedCalls(calls), () => [{ atMs: 10_200 }, { atMs: 10_600 }])).toEqual([]);
});
