import { describe, expect, it } from 'vitest';
import { findLoop } from '../../../../activities/model/loop-guard.ts';
import type { StepRow } from '../../../../db/for-worker/steps.ts';
import { buildStep } from '../build-step.ts';

/** `a`: a call that succeeds; `a!`: one that fails; `-`: text only. */
function buildSteps(pattern: string): StepRow[] {
  return pattern.split(' ').map((mark, index) => {
    const toolCallId = `call_${index}`;
    if (mark === '-') return buildStep({ step: index + 1, text: `Hm ${index}` });
    const isError = mark.endsWith('!');
    const call = { toolCallId, toolName: 'read', input: { path: mark } };
    const output = isError ? 'No such file.' : `content of ${mark}`;
    return buildStep({
      step: index + 1,
      toolCalls: [call],
      toolResults: [{ toolCallId, toolName: 'read', output, isError }],
    });
  });
}

describe('an agent loops', () => {
  it.each([
    ['a a a a', 'same-call'],
    ['b a a a a', 'same-call'],
    ['a! b! c!', 'same-error'],
    ['a b a b a b', 'alternation'],
    ['a - - -', 'monologue'],
  ])('with the steps %s', (pattern, loop) => {
    expect(findLoop(buildSteps(pattern))).toBe(loop);
  });

  it.each(['a', 'a a a', 'a a b a a', 'a! b! c', 'a! b!', 'a b a b a', 'a b a b a c', 'a b c a b c', '- -', '- - a -'])(
    'not with the steps %s',
    (pattern) => {
      expect(findLoop(buildSteps(pattern))).toBe(null);
    },
  );

  it.each([
    ['run', { command: 'grep -rq one .' }, '[exit code 1]\n(no output)'],
    ['fetch', { url: 'https://docs.test/one' }, 'docs.test answered with status 404.'],
    ['tracker__find', { id: 1 }, 'Not found.'],
  ])('not with different calls of %s that fail in the same words, but with the same one', (toolName, input, output) => {
    const failing = (inputs: object[]) =>
      inputs.map((one, index) => {
        const toolCallId = `call_${index}`;
        return buildStep({
          step: index + 1,
          toolCalls: [{ toolCallId, toolName, input: one }],
          toolResults: [{ toolCallId, toolName, output, isError: true }],
        });
      });
    expect(findLoop(failing([input, { other: 2 }, { other: 3 }]))).toBe(null);
    expect(findLoop(failing([input, input, input]))).toBe('same-error');
  });

  it('not if the same call has a different result each time', () => {
    const steps = buildSteps('a a a a').map((step, index) => ({
      ...step,
      toolResults: step.toolResults!.map((result) => ({ ...result, output: `${index}` })),
    }));
    expect(findLoop(steps)).toBe(null);
  });
});
