import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JobInput, ModelStep } from '../../../workflows/contract/job.ts';
import {
  advance,
  initialState,
  progressOf,
  reachedLimit,
  remainingMs,
  type JobState,
} from '../../../workflows/job-state.ts';

const limits = { maxSteps: 3, maxTokens: 100, maxDurationMs: 1_000 };
const input: JobInput = { jobId: 'job_1', turn: 1, limits };

function buildState(state: Partial<JobState> = {}): JobState {
  return { stage: 'asking', step: 1, tokens: 0, largestCall: 0, startedAtMs: 0, ...state };
}

function buildAnswer(answer: Partial<ModelStep> = {}): ModelStep {
  return { toolCallCount: 1, finishReason: 'tool-calls', usage: { inputTokens: 10, outputTokens: 5 }, ...answer };
}

describe('the state of a turn', () => {
  it('begins with preparing, and asks the model once it is prepared', () => {
    const begun = initialState(input, 500);
    expect(begun).toEqual({ stage: 'preparing', step: 1, tokens: 0, largestCall: 0, startedAtMs: 500 });
    expect(advance(begun, { kind: 'prepared' }).stage).toBe('asking');
  });

  it('goes on at the carried step without preparing again', () => {
    const progress = { step: 40, tokens: 900, largestCall: 30, startedAtMs: 7 };
    expect(initialState({ ...input, progress }, 5_000)).toEqual({ ...progress, stage: 'asking' });
  });

  it('runs the tools an answer asks for, then asks for the next step', () => {
    const acting = advance(buildState(), { kind: 'answered', answer: buildAnswer() });
    expect(acting).toMatchObject({ stage: 'acting', step: 1, tokens: 15 });
    const next = advance(acting, { kind: 'tools-ran', result: { finished: false, changedFiles: 0 } });
    expect(next).toMatchObject({ stage: 'asking', step: 2, tokens: 15 });
  });

  it('publishes after an answer without tool calls, and after a finish call', () => {
    const answer = buildAnswer({ toolCallCount: 0 });
    expect(advance(buildState(), { kind: 'answered', answer }).stage).toBe('publishing');
    const result = { finished: true, changedFiles: 1 };
    expect(advance(buildState({ stage: 'acting' }), { kind: 'tools-ran', result }).stage).toBe('publishing');
  });

  it('goes on after its end when a message waits', () => {
    const answer = buildAnswer({ toolCallCount: 0, hasMessages: true });
    expect(advance(buildState(), { kind: 'answered', answer })).toMatchObject({ stage: 'asking', step: 2, tokens: 15 });
    const published = buildState({ stage: 'publishing', step: 4 });
    expect(advance(published, { kind: 'message-arrived' })).toMatchObject({ stage: 'asking', step: 5 });
  });

  it('counts tokens and steps the same however often it continues as new', () => {
    const answers = fc.array(
      fc.record({ inputTokens: fc.nat(1_000), outputTokens: fc.nat(1_000), isCut: fc.boolean() }),
    );
    fc.assert(
      fc.property(answers, (steps) => {
        let state = buildState();
        for (const { isCut, ...usage } of steps) {
          state = advance(state, { kind: 'answered', answer: buildAnswer({ usage }) });
          state = advance(state, { kind: 'tools-ran', result: { finished: false, changedFiles: 0 } });
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

  it('leave the time that is left since the first run began', () => {
    expect(remainingMs(buildState({ startedAtMs: 100 }), limits, 400)).toBe(700);
  });
});
