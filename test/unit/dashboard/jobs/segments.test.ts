import { expect, it } from 'vitest';
import { noOutput, type LiveOutput } from '../../../../dashboard/jobs/job-queries.ts';
import { segmentsOf, visibleSegments } from '../../../../dashboard/jobs/timeline/segments.ts';
import type { Step, Turn } from '../../../../dashboard/http/types.ts';

const at = (second: number) => new Date(Date.UTC(2026, 10, 21, 10) + second * 1000).toISOString();
const turn = { turn: 1, createdAt: at(0), endedAt: at(20) } as Turn;
const step = (number: number, [started, answered, ended]: [number, number | null, number | null]) =>
  ({
    turn: 1,
    step: number,
    attempts: 1,
    lostAttempts: [],
    modelFailures: 0,
    toolCalls: [{ toolCallId: 'c', toolName: 'read', input: {}, output: '', characters: 0, isError: false }],
    startedAt: at(started),
    answeredAt: answered === null ? null : at(answered),
    endedAt: ended === null ? null : at(ended),
  }) as unknown as Step;
const live = (phases: LiveOutput['phases'] = []) => ({ ...noOutput, phases });
const phase = (name: string, second: number) => ({ turn: 1, phase: name, at: Date.parse(at(second)) });

function told(segments: ReturnType<typeof segmentsOf>) {
  return segments.map(
    ({ kind, from, to }) => `${kind} ${(from - Date.parse(at(0))) / 1000}-${(to - Date.parse(at(0))) / 1000}`,
  );
}

it('accounts for all of the time, without gaps', () => {
  const phases = [phase('preparing', 1), phase('running', 3), phase('publishing', 15)];
  const steps = [step(1, [4, 6, 8]), step(2, [8, 10, 14])];
  expect(told(segmentsOf(turn, steps, live(phases), 0))).toEqual([
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

it('lets the open segment of an active turn grow, and omits steps from another time', () => {
  const open = { ...turn, endedAt: null };
  const now = Date.parse(at(9));
  expect(told(segmentsOf(open, [step(1, [4, null, null])], live(), now))).toEqual(['queue 0-4', 'model 4-9']);
  const taken = step(1, [-50, -40, -30]);
  expect(told(segmentsOf(open, [taken], live([phase('preparing', 1), phase('running', 2)]), now))).toEqual([
    'queue 0-1',
    'git 1-2',
    'waiting 2-9',
  ]);
});

it('counts the queue of a fork up to its own first step, without the events of the phases, too', () => {
  const steps = [step(1, [-50, -40, -30]), step(2, [-30, -25, -20]), step(3, [6, 8, 20])];
  expect(told(segmentsOf(turn, steps, live(), 0))).toEqual(['queue 0-6', 'model 6-8', 'tools 8-20']);
  expect(told(segmentsOf(turn, steps.slice(0, 2), live(), 0))).toEqual(['queue 0-20']);
});

it('counts the time after a step without tools toward what came next', () => {
  const phases = [phase('preparing', 1), phase('running', 2), phase('publishing', 9)];
  const last = { ...step(1, [2, 8, null]), toolCalls: [] };
  expect(told(segmentsOf({ ...turn, endedAt: null }, [last], live(phases), Date.parse(at(12))))).toEqual([
    'queue 0-1',
    'git 1-2',
    'model 2-8',
    'waiting 8-9',
    'git 9-12',
  ]);
});

it('joins segments that are too short to see, without losing time', () => {
  const steps = Array.from({ length: 2_000 }, (_, number) => {
    const begin = number / 100;
    return step(number + 1, [begin, begin + 0.006, begin + 0.01]);
  });
  const segments = segmentsOf(turn, steps, live(), 0);
  const pieces = visibleSegments(segments);
  expect(segments.length).toBeGreaterThan(3_000);
  expect(pieces.length).toBeLessThan(500);
  expect(pieces.at(-1)?.to).toBe(segments.at(-1)?.to);
  for (const [index, { from }] of pieces.entries()) if (index > 0) expect(from).toBe(pieces[index - 1]?.to);
  expect(pieces[10]?.what).toMatch(/^Step .* – Step .*, mostly model$/);
});

it('counts the time of a tool that was stopped with the turn', () => {
  const phases = [phase('preparing', 1), phase('running', 2)];
  expect(told(segmentsOf(turn, [step(1, [2, 4, null])], live(phases), 0))).toEqual([
    'queue 0-1',
    'git 1-2',
    'model 2-4',
    'tools 4-20',
  ]);
});
