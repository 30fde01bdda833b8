import { expect, it } from 'vitest';
import { attemptsOf } from '../../../../dashboard/jobs/timeline/attempts.ts';
import { noOutput, withEvents } from '../../../../dashboard/jobs/job-queries.ts';
import { timesOf, type Segment } from '../../../../dashboard/jobs/timeline/segments.ts';
import { timeAxis } from '../../../../dashboard/jobs/timeline/time-axis.ts';
import { valuesOf, waterfallRows as rowsAt, type Timed } from '../../../../dashboard/jobs/timeline/waterfall-rows.ts';
import type { JobEvent, Step, Turn } from '../../../../dashboard/http/types.ts';

const begin = Date.UTC(2026, 10, 21, 10);
const at = (second: number) => new Date(begin + second * 1000).toISOString();
const turnOf = (turn: number, from: number, to: number | null) =>
  ({ turn, createdAt: at(from), endedAt: to === null ? null : at(to) }) as Turn;
const stepOf = (step: number, [started, answered, ended]: [number, number | null, number | null], more = {}) =>
  ({
    turn: 1,
    step,
    attempts: 1,
    lostAttempts: [],
    modelFailures: 0,
    toolCalls: [{ toolCallId: 'c', toolName: 'run', input: {}, output: '', characters: 0, isError: false }],
    startedAt: at(started),
    answeredAt: answered === null ? null : at(answered),
    endedAt: ended === null ? null : at(ended),
    ...more,
  }) as unknown as Step;
const eventOf = (second: number, step: number | null, type: JobEvent['type'], data: Record<string, unknown>) =>
  ({ seq: 1, turn: 1, step, type, createdAt: at(second), data }) satisfies JobEvent;

const waterfallRows = (turns: Turn[], steps: Step[], live: Timed['live'], now: number) =>
  rowsAt({ turns, steps, live, failure: null }, now);

it('has a row for the turn, the queue, the repository, each step and the publishing', () => {
  const live = withEvents(noOutput, [
    eventOf(1, null, 'phase', { phase: 'preparing' }),
    eventOf(3, null, 'phase', { phase: 'running' }),
    eventOf(8, null, 'phase', { phase: 'publishing' }),
  ]);
  const rows = waterfallRows([turnOf(1, 0, 10)], [stepOf(1, [3, 4, 5]), stepOf(2, [5, 6, 8])], live, 0);
  expect(rows.map(valuesOf)).toEqual([
    'Turn 1: 10.0 s',
    'Queue: 1.0 s',
    'Prepare: 2.0 s',
    'Step 1: 2.0 s · model 1.0 s · tools 1.0 s · run',
    'Step 2: 3.0 s · model 1.0 s · tools 2.0 s · run',
    'Publish: 2.0 s',
  ]);
  expect(rows.map(({ anchor }) => anchor)).toEqual(['turn-1', 'turn-1', 'turn-1', 'step-1-1', 'step-1-2', 'turn-1']);
});

it.each([
  ['ref_not_found', 'Prepare', 'git'],
  ['model_unavailable', 'Step 1', 'model'],
  ['push_rejected', 'Publish', 'git'],
])('shows in red where a job failed with %s', (failure, label, kind) => {
  const live = withEvents(noOutput, [
    eventOf(1, null, 'phase', { phase: 'preparing' }),
    eventOf(3, null, 'phase', { phase: 'running' }),
    ...(failure === 'push_rejected' ? [eventOf(8, null, 'phase', { phase: 'publishing' })] : []),
  ]);
  const steps = failure === 'ref_not_found' ? [] : [stepOf(1, [3, 4, 8])];
  const rows = rowsAt({ turns: [turnOf(1, 0, 10)], steps, live, failure }, 0);
  const failed = rows.filter(({ isTurn, segments }) => !isTurn && segments.some(({ isFailed }) => isFailed));
  expect(failed).toMatchObject([{ label, reason: 'failed' }]);
  expect(failed[0]?.segments.filter(({ isFailed }) => isFailed)).toMatchObject([{ kind }]);
  expect(timesOf(rows[0]!.segments).some((time) => time.kind === 'lost')).toBe(true);
});

it('shows no operation in red for a job that reached a limit', () => {
  const rows = rowsAt(
    { turns: [turnOf(1, 0, 10)], steps: [stepOf(1, [3, 4, 8])], live: noOutput, failure: 'step_limit' },
    0,
  );
  expect(rows.flatMap(({ segments }) => segments).filter(({ isFailed }) => isFailed)).toEqual([]);
});

it('has the same rows before the events are there', () => {
  const turn = { ...turnOf(1, 0, 10), headCommit: 'c0ffee' };
  const rows = waterfallRows([turn], [stepOf(1, [3, 4, 8])], noOutput, 0);
  expect(rows.map(valuesOf)).toEqual([
    'Turn 1: 10.0 s',
    'Queue: 3.0 s',
    'Prepare: –',
    'Step 1: 5.0 s · model 1.0 s · tools 4.0 s · run',
    'Publish: –',
  ]);
});

it('shows each lost attempt with its time and why it was lost', () => {
  const live = withEvents(noOutput, [
    eventOf(2, 1, 'step-start', { attempt: 1 }),
    eventOf(4, 1, 'step-start', { attempt: 2 }),
    eventOf(5, 1, 'step-start', { attempt: 3 }),
  ]);
  const [, , , refused] = waterfallRows(
    [turnOf(1, 0, 9)],
    [stepOf(1, [2, 8, 9], { attempts: 3, modelFailures: 2 })],
    live,
    0,
  );
  expect(refused?.segments.map(({ kind, from, to }) => [kind, (to - from) / 1000])).toEqual([
    ['lost', 2],
    ['lost', 1],
    ['model', 3],
    ['tools', 1],
  ]);
  expect(refused && valuesOf(refused)).toBe(
    'Step 1: 7.0 s · attempt 1 lost 2.0 s · attempt 2 lost 1.0 s · model 3.0 s · tools 1.0 s · run · The model provider failed 2 times.',
  );
});

it('marks tools whose worker stopped, at a time that is not stored', () => {
  const live = withEvents(noOutput, [eventOf(2, 1, 'step-start', { attempt: 1 })]);
  const rows = waterfallRows([turnOf(1, 0, 9)], [stepOf(1, [2, 3, 9], { attempts: 2 })], live, 0);
  expect(rows.map(({ segments }) => segments.map(({ kind }) => kind).join(' '))).toEqual([
    'queue model lost',
    'queue',
    '',
    'model lost',
  ]);
  expect(rows[3]?.reason).toMatch(/^A worker stopped once/);
});

it('shows when and where each attempt was lost, also while the next one still runs tools', () => {
  const lostOn = (worker: string, attempt: number, from: number, to: number) => ({
    attempt,
    worker,
    startedAt: at(from),
    endedAt: at(to),
  });
  const lostAttempts = [lostOn('1@one', 1, 1, 3), lostOn('2@two', 2, 3, 7)];
  const step = { ...stepOf(1, [1, 5, null], { attempts: 3 }), lostAttempts };
  const [turn, , , row] = waterfallRows([turnOf(1, 0, null)], [step], noOutput, begin + 9_000);
  const told = ({ kind, from, to }: Segment) => `${kind} ${(from - begin) / 1000}-${(to - begin) / 1000}`;
  expect(turn?.segments.map(told)).toEqual(['queue 0-1', 'lost 1-3', 'model 3-5', 'lost 5-7', 'tools 7-9']);
  expect(row && valuesOf(row)).toContain(
    'attempt 1 lost on 1@one 2.0 s · model 2.0 s · attempt 2 lost on 2@two 2.0 s · tools 2.0 s',
  );
});

it('counts an attempt that was overtaken but answered first once', () => {
  const starts = [2, 5, 8].map((second, index) => ({ attempt: index === 1 ? 2 : 1, at: begin + second * 1000 }));
  const step = { attempts: 2, lostAttempts: [], modelFailures: 0, answeredAt: at(8) };
  expect(attemptsOf(step, starts)).toMatchObject({ lost: [{ attempt: 1 }], lostInTools: [], unknown: 0 });
});

it('shows all turns on one axis, with little room for the time between them', () => {
  const seconds = (from: number, to: number) => ({ from: begin + from * 1000, to: begin + to * 1000 });
  const { position, ticks, breaks } = timeAxis([seconds(0, 60), seconds(3_660, 3_720)]);
  expect(position(begin)).toBe(0);
  expect(position(begin + 3_720_000)).toBe(1);
  expect(position(begin + 3_660_000) - position(begin + 60_000)).toBeCloseTo(0.03, 1);
  expect(breaks).toMatchObject([{ ms: 3_600_000 }]);
  expect(ticks.length).toBeGreaterThan(2);
  for (const [index, tick] of ticks.entries())
    expect(tick.position - (ticks[index - 1]?.position ?? -1)).toBeGreaterThan(0.1);
});

it('names no second twice when the next turn begins in it', () => {
  const ms = (from: number, to: number) => ({ from: begin + from, to: begin + to });
  const labels = timeAxis([ms(200, 2_100), ms(2_600, 3_400)]).ticks.map(({ label }) => label);
  expect(labels.length).toBeGreaterThan(1);
  expect(new Set(labels).size).toBe(labels.length);
});

it('has no more than a few hundred parts in the row of a turn of 2,000 steps', () => {
  const steps = Array.from({ length: 2_000 }, (_, number) =>
    stepOf(number + 1, [number, number + 0.6, number + 1], number === 1_000 ? { attempts: 2 } : {}),
  );
  const live = withEvents(
    noOutput,
    steps.map(({ step }) => eventOf(step - 1, step, 'step-start', { attempt: 1 })),
  );
  const [turn, ...rows] = waterfallRows([turnOf(1, 0, 2_000)], steps, live, 0);
  expect(rows.length).toBeGreaterThanOrEqual(2_000);
  expect(turn?.segments.length).toBeLessThan(500);
  expect(turn?.segments.filter(({ kind }) => kind === 'lost')).toHaveLength(1);
});
