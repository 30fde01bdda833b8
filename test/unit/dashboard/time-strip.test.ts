import { expect, it } from 'vitest';
import { segmentsOf } from '../../../dashboard/jobs/time-strip.tsx';
import type { Step, Turn } from '../../../dashboard/http/types.ts';

const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 10, 0, second)).toISOString();
const turn = { turn: 1, createdAt: at(0), endedAt: at(20) } as Turn;
const step = (number: number, [started, answered, ended]: [number, number | null, number | null]) =>
  ({
    turn: 1,
    step: number,
    startedAt: at(started),
    answeredAt: answered === null ? null : at(answered),
    endedAt: ended === null ? null : at(ended),
  }) as Step;
const phase = (name: string, second: number) => ({ turn: 1, phase: name, at: Date.parse(at(second)) });

function told(segments: ReturnType<typeof segmentsOf>) {
  return segments.map(
    ({ kind, from, to }) => `${kind} ${(from - Date.parse(at(0))) / 1000}-${(to - Date.parse(at(0))) / 1000}`,
  );
}

it('tells where all of the time went, without gaps', () => {
  const phases = [phase('preparing', 1), phase('running', 3), phase('publishing', 15)];
  const steps = [step(1, [4, 6, 8]), step(2, [8, 10, 14])];
  expect(told(segmentsOf(turn, steps, phases, 0))).toEqual([
    'queue 0-1',
    'git 1-3',
    'waiting 3-4',
    'model 4-6',
    'tools 6-8',
    'model 8-10',
    'tools 10-14',
    'waiting 14-15',
    'git 15-20',
  ]);
});

it('lets the open piece of an active turn grow, and leaves out steps of another time', () => {
  const open = { ...turn, endedAt: null };
  const now = Date.parse(at(9));
  expect(told(segmentsOf(open, [step(1, [4, null, null])], [], now))).toEqual(['queue 0-4', 'model 4-9']);
  const taken = step(1, [-50, -40, -30]);
  expect(told(segmentsOf(open, [taken], [phase('preparing', 1), phase('running', 2)], now))).toEqual([
    'queue 0-1',
    'git 1-2',
    'waiting 2-9',
  ]);
});
