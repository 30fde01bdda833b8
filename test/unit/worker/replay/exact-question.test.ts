import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { newestRules, systemPrompt } from '../../../../activities/model/agent-prompt.ts';
import { requestHashOf } from '../../../../activities/model/ask-model.ts';
import { maskInChunks, maskInTens } from '../../../../activities/model/transcript/masking.ts';
import { conversationOf } from '../../../../activities/model/transcript/transcript.ts';
import { noInstructions } from '../../../../activities/model/stored-instructions.ts';
import { plainEnvironment } from '../../../../activities/environment/prepared-environment.ts';
import { createToolset, offeredTools } from '../../../../activities/tools/toolset.ts';
import type { BundleRecordOf } from '../../../../db/jobs/bundle-schema.ts';
import type { CollectedJob } from '../../../../worker/replay/collect-job.ts';
import { exactQuestionOf } from '../../../../worker/replay/exact-question.ts';
import { buildStep } from '../../activities/build-step.ts';

const system = systemPrompt(noInstructions);
const job = {
  mayAsk: false,
  planReview: false,
  approvedTurn: null,
  project: { mayRun: true },
  environment: plainEnvironment,
};
const tools = Object.keys(offeredTools(createToolset(), job, noInstructions));
const steps = Array.from({ length: 31 }, (_, index) => {
  const call = { toolCallId: `c${index}`, toolName: 'read' };
  return buildStep({
    step: index + 1,
    toolCalls: [{ ...call, input: { path: 'a' } }],
    toolResults: [{ ...call, output: `${index}`.padEnd(10_000), isError: false }],
  });
});

/** A job whose last step was sent with the given masking. */
function collected(masking: typeof maskInTens, names = tools): CollectedJob {
  const prompts = [{ turn: 1, step: 0, prompt: 'Go' }];
  const messages = conversationOf({ prompts, steps, notes: [], compaction: null }, { maskedSteps: masking });
  const requestHash = requestHashOf({ model: 'compatible/one', system, messages, tools: names });
  const records = [...steps, { ...buildStep({ step: 32 }), requestHash }];
  return {
    job: { id: 'job_1', model: 'compatible/one' } as BundleRecordOf<'job'>,
    turns: [{ turn: 1, prompt: 'Go' } as BundleRecordOf<'turn'>],
    steps: records as unknown as BundleRecordOf<'step'>[],
    messages: [],
    notes: [],
    compactions: [],
    tools: [],
    effects: [],
    events: [],
    exports: [],
    histories: [],
  };
}

it('keeps the rules that a turn began with', () => {
  // of all steps of earlier versions; any other text would differ from what was sent
  const sha256 = createHash('sha256').update(system).digest('hex');
  expect(sha256).toBe('4634cdd7306afea86cd2b2d654d236ef54b050fcd7891605729dc70af1a29fa7');
  expect(systemPrompt({ ...noInstructions, rules: newestRules })).not.toContain('nobody answers questions');
});

it.each([maskInChunks, maskInTens])('rebuilds a request that was sent with %o', (masking) => {
  expect(masking(steps)).toBe(masking === maskInTens ? 20 : 21);
  const question = exactQuestionOf(collected(masking), { turn: 1, step: 32 });
  expect(question).toMatchObject({ match: 'exact', tools });
});

it('rebuilds a request of a version that offered no git history', () => {
  const earlier = tools.filter((name) => !['log', 'blame', 'show', 'diff'].includes(name));
  const question = exactQuestionOf(collected(maskInChunks, earlier), { turn: 1, step: 32 });
  expect(question).toMatchObject({ match: 'exact', tools: earlier });
});

it('rebuilds a request to the model that answered, without the reasoning of another one', () => {
  const prompts = [{ turn: 1, step: 0, prompt: 'Go' }];
  const first = buildStep({ text: 'Words.', model: 'compatible/one' });
  first.response!.content.unshift({ type: 'reasoning', text: 'Thoughts.' });
  const transcript = { prompts, steps: [first], notes: [], compaction: null };
  const messages = conversationOf(transcript, { model: 'compatible/two' });
  expect(JSON.stringify(messages)).not.toContain('Thoughts.');
  const requestHash = requestHashOf({ model: 'compatible/two', system, messages, tools });
  const asked = { ...buildStep({ step: 2, model: 'compatible/two' }), requestHash };
  const records = [first, asked] as unknown as BundleRecordOf<'step'>[];
  const question = exactQuestionOf({ ...collected(maskInChunks), steps: records }, { turn: 1, step: 2 });
  expect(question).toMatchObject({ match: 'exact', model: 'compatible/two' });
});
