import { describe, expect, it } from 'vitest';
import type { JobInput, StepResult } from '../../../workflows/contract/job.ts';
import {
  advance,
  hasRoom,
  initialState,
  progressOf,
  reachedLimit,
  remainingMs,
  type JobState,
} from '../../../workflows/job-state.ts';
import { fc } from '../../support/properties.ts';

const limits = { maxSteps: 3, maxTokens: 100, maxDurationMs: 1_000 };
const input: JobInput = { jobId: 'job_1', turn: 1, limits };

function buildState(state: Partial<JobState> = {}): JobState {
  return { stage: 'running', step: 1, tokens: 0, largestCall: 0, startedAtMs: 0, ...state };
}

const tools = { finished: false, changedFiles: 0 };

function buildResult(result: Partial<StepResult> = {}): StepResult {
  return { toolCallCount: 1, finishReason: 'tool-calls', usage: { inputTokens: 10, outputTokens: 5 }, ...result };
}

describe('the state of a turn', () => {
  it('starts with preparing, and continues with steps', () => {
    const begun = initialState(input, 500);
    expect(begun).toEqual({ stage: 'preparing', step: 1, tokens: 0, largestCall: 0, startedAtMs: 500 });
    expect(advance(begun, { kind: 'prepared' }).stage).toBe('running');
  });

  it('continues at the carried step without preparing again', () => {
    const progress = { step: 40, tokens: 900, largestCall: 30, startedAtMs: 7 };
    expect(initialState({ ...input, progress }, 5_000)).toEqual({ ...progress, stage: 'running' });
  });

  it('continues with the next step when the tools have run', () => {
    const next = advance(buildState(), { kind: 'step-taken', result: buildResult({ tools }) });
    expect(next).toMatchObject({ stage: 'running', step: 2, tokens: 15, largestCall: 15 });
  });

  it('publishes after an answer without tool calls, and after finish', () => {
    const text = buildResult({ toolCallCount: 0, finishReason: 'stop' });
    expect(advance(buildState(), { kind: 'step-taken', result: text }).stage).toBe('publishing');
    const finish = buildResult({ tools: { finished: true, changedFiles: 1 } });
    expect(advance(buildState(), { kind: 'step-taken', result: finish }).stage).toBe('publishing');
  });

  it('continues after a truncated answer, and after its end if a message waits', () => {
    const cut = buildResult({ toolCallCount: 0, finishReason: 'length' });
    expect(advance(buildState(), { kind: 'step-taken', result: cut })).toMatchObject({ stage: 'running', step: 2 });
    const result = buildResult({ toolCallCount: 0, hasMessages: true });
    expect(advance(buildState(), { kind: 'step-taken', result })).toMatchObject({ stage: 'running', step: 2 });
    const published = buildState({ stage: 'publishing', step: 4 });
    expect(advance(published, { kind: 'message-arrived' })).toMatchObject({ stage: 'running', step: 5 });
  });

  it('counts tokens and steps the same however often it continues as new', () => {
    const answers = fc.array(
      fc.record({ inputTokens: fc.nat(1_000), outputTokens: fc.nat(1_000), isCut: fc.boolean() }),
    );
    fc.assert(
      fc.property(answers, (steps) => {
        let state = buildState();
        for (const { isCut, ...usage } of steps) {
          state = advance(state, { kind: 'step-taken', result: buildResult({ usage, tools }) });
          if (isCut) state = initialState({ ...input, progress: progressOf(state) }, 99);
        }
        const tokens = steps.reduce((sum, usage) => sum + usage.inputTokens + usage.outputTokens, 0);
        const largestCall = Math.max(0, ...steps.map((usage) => usage.inputTokens + usage.outputTokens));
        expect(state).toEqual(buildState({ step: steps.length + 1, tokens, largestCall }));
      }),
    );
  });
});

describe('the limits of a turn', () => {
  it.each([
    [buildState({ step: 3 }), 0, null],
    [buildState({ step: 4 }), 0, 'step_limit'],
    [buildState({ tokens: 99 }), 0, null],
    [buildState({ tokens: 100 }), 0, 'budget_limit'],
    [buildState(), 999, null],
    [buildState(), 1_000, 'time_limit'],
  ])('of %o at %d ms is %s', (state, nowMs, limit) => {
    expect(reachedLimit(state, limits, nowMs)).toBe(limit);
  });

  it.each([
    [buildState({ step: 1 }), 0, true],
    [buildState({ step: 2 }), 0, false],
    [buildState({ tokens: 60, largestCall: 20 }), 0, true],
    [buildState({ tokens: 61, largestCall: 20 }), 0, false],
    [buildState(), 899, true],
    [buildState(), 900, false],
  ])('leave after %o at %d ms room to act on a message: %s', (state, nowMs, isLeft) => {
    expect(hasRoom(state, limits, nowMs)).toBe(isLeft);
  });

  it('are counted from the start of the first run', () => {
    expect(remainingMs(buildState({ startedAtMs: 100 }), limits, 400)).toBe(700);
  });
});
