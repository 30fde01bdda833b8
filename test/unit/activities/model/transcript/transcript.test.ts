import { describe, expect, it } from 'vitest';
import {
  conversationOf,
  transcriptAt,
  type Transcript,
} from '../../../../../activities/model/transcript/transcript.ts';
import { buildStep } from '../../build-step.ts';

function buildRead(id: string, output: string) {
  return {
    toolCalls: [{ toolCallId: id, toolName: 'read', input: { path: 'a' } }],
    toolResults: [{ toolCallId: id, toolName: 'read', output, isError: false }],
  };
}

/** Steps whose outputs have 10,000 characters. */
function largeSteps(length: number) {
  return Array.from({ length }, (_, index) =>
    buildStep({ step: index + 1, ...buildRead(`c${index}`, 'x'.repeat(10_000)) }),
  );
}

function build(transcript: Partial<Transcript>): Transcript {
  return { prompts: [{ turn: 1, step: 0, prompt: 'Go' }], steps: [], notes: [], compaction: null, ...transcript };
}

function outputsOf(messages: ReturnType<typeof conversationOf>): string[] {
  return messages.flatMap((message) =>
    message.role === 'tool'
      ? message.content.map((part) => String((part as { output: { value: unknown } }).output.value))
      : [],
  );
}

describe('the conversation of a job', () => {
  it('puts each turn’s prompt before its own steps', () => {
    const prompts = [
      { turn: 1, step: 0, prompt: 'First' },
      { turn: 2, step: 0, prompt: 'Second' },
    ];
    const steps = [
      buildStep({ ...buildRead('c1', 'one') }),
      buildStep({ step: 2, text: 'Done' }),
      buildStep({ turn: 2, text: 'Again' }),
    ];
    const shape = conversationOf(build({ prompts, steps })).map(({ role, content }) =>
      typeof content === 'string' ? content : role,
    );
    expect(shape).toEqual(['First', 'assistant', 'tool', 'assistant', 'Second', 'assistant']);
  });

  it('puts a message before the first answer that took it into account', () => {
    const prompts = [
      { turn: 1, step: 0, prompt: 'First' },
      { turn: 1, step: 2, prompt: 'Wait' },
      { turn: 1, step: null, prompt: 'Too late' },
      { turn: 2, step: 0, prompt: 'Second' },
      { turn: 2, step: 2, prompt: 'Now' },
    ];
    const steps = [
      buildStep({ text: '1.1' }),
      buildStep({ step: 2, text: '1.2' }),
      buildStep({ turn: 2, text: '2.1' }),
    ];
    const words = conversationOf(build({ prompts, steps })).map(({ content }) =>
      typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join(),
    );
    expect(words).toEqual(['First', '1.1', 'Wait', '1.2', 'Too late', 'Second', '2.1', 'Now']);
  });

  it('answers a call that never ran, so that no provider refuses the transcript', () => {
    const steps = [buildStep({ ...buildRead('c1', ''), toolResults: null })];
    const messages = conversationOf(build({ steps }));
    expect(messages.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ toolCallId: 'c1', output: { type: 'error-text', value: 'This call was not run.' } }],
    });
  });

  it('omits a step without an answer, and an answer without content', () => {
    const open = { ...buildStep(), response: null };
    const messages = conversationOf(build({ steps: [buildStep(), open] }));
    expect(messages).toEqual([{ role: 'user', content: 'Go' }]);
  });

  it('keeps all outputs of a small transcript', () => {
    const steps = Array.from({ length: 30 }, (_, index) =>
      buildStep({ step: index + 1, ...buildRead(`c${index}`, 'x'.repeat(1_000)) }),
    );
    const outputs = outputsOf(conversationOf(build({ steps })));
    expect(outputs.every((output) => output.length === 1_000)).toBe(true);
  });

  it('masks the older outputs of a large one, but none of the newest ten', () => {
    const outputs = outputsOf(conversationOf(build({ steps: largeSteps(31) })));
    expect(outputs.slice(0, 21).every((output) => output.startsWith('[10000 characters of an earlier read'))).toBe(
      true,
    );
    expect(outputs.slice(21).every((output) => output.length === 10_000)).toBe(true);
  });

  it('begins with what the call before sent, except when outputs are masked, which is rare', () => {
    const steps = largeSteps(60);
    const sent = steps.map((_, index) => JSON.stringify(conversationOf(build({ steps: steps.slice(0, index) }))));
    const changed = sent.flatMap((text, index) =>
      text.startsWith(sent[index - 1]?.slice(0, -1) ?? '') ? [] : [index],
    );
    expect(changed).toEqual([31, 52]);
  });
});

describe('a note of the service', () => {
  const note = { turn: 1, step: 2, kind: 'nudge' as const, text: 'Stop that.' };

  it('is added to the last tool result, whatever is masked there', () => {
    const outputs = outputsOf(conversationOf(build({ steps: largeSteps(31), notes: [note] })));
    expect(outputs[0]).toMatch(
      /^\[10000 characters of an earlier read of a omitted; .*\]\n\n\(Note of the service: Stop/,
    );
    expect(outputs[1]).not.toContain('Note');
  });

  it('changes no message that a later call sends again without it', () => {
    const steps = largeSteps(3);
    const before = conversationOf(build({ steps }));
    const sent = JSON.stringify(before);
    expect(JSON.stringify(conversationOf(build({ steps, notes: [note] })))).toContain('Stop that.');
    expect(JSON.stringify(conversationOf(build({ steps })))).toBe(sent);
    expect(conversationOf(build({ steps })).at(-1)).toBe(before.at(-1));
  });

  it('follows a person’s message if no tool ran before', () => {
    const steps = [buildStep({ text: 'one' }), buildStep({ step: 2, text: 'two' })];
    const words = conversationOf(build({ steps, notes: [note] })).map(({ role }) => role);
    expect(words).toEqual(['user', 'assistant', 'user', 'assistant']);
  });
});

describe('a compacted conversation', () => {
  const ledger = { read: { 'a.ts': 'abc123' }, changed: ['b.ts'], todo: [{ text: 'Test it', done: false }] };
  const compaction = {
    turn: 1,
    step: 4,
    uptoTurn: 1,
    uptoStep: 2,
    summary: 'The lamp is in a.ts.',
    ledger,
    tree: null,
    usage: { inputTokens: 1, outputTokens: 1 },
  };
  const steps = [1, 2, 3, 4, 5].map((step) => buildStep({ step, text: `answer ${step}` }));
  const prompts = [
    { turn: 1, step: 0, prompt: 'First' },
    { turn: 1, step: 2, prompt: 'Meanwhile' },
    { turn: 1, step: 4, prompt: 'Later' },
  ];
  const record = { prompts, steps, notes: [], compactions: [compaction] };
  const textsOf = (step: number) =>
    conversationOf(transcriptAt(record, { turn: 1, step })).map(({ content }) =>
      typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join(),
    );

  it('contains all prompts, the notes, the ledger and the later steps', () => {
    const [first, meanwhile, notes, ...rest] = textsOf(6);
    expect([first, meanwhile, ...rest]).toEqual(['First', 'Meanwhile', 'answer 3', 'Later', 'answer 4', 'answer 5']);
    for (const part of ['The lamp is in a.ts.', '- a.ts (etag abc123)', '- b.ts', '[ ] Test it'])
      expect(notes).toContain(part);
  });

  it('is complete for the calls before it', () => {
    expect(textsOf(3)).toEqual(['First', 'answer 1', 'Meanwhile', 'answer 2']);
  });
});

describe('an answer of another model', () => {
  const step = buildStep({
    text: 'Words.',
    toolCalls: [{ toolCallId: 'c1', toolName: 'read', input: {} }],
    model: 'a/x',
  });
  step.response!.content = [
    { type: 'reasoning', text: 'Thoughts.', providerOptions: { anthropic: { signature: 'signed' } } },
    { type: 'text', text: 'Words.', providerOptions: { openai: { itemId: 'msg_1' } } },
    {
      type: 'tool-call',
      toolCallId: 'c1',
      toolName: 'read',
      input: {},
      providerOptions: { google: { thoughtSignature: 's' } },
    },
  ];
  const sentTo = (model: string | null, answered: string | null = 'a/x') =>
    JSON.stringify(conversationOf(build({ steps: [{ ...step, model: answered }] }), { model }));

  it('is sent without its reasoning and what is for its provider', () => {
    expect(sentTo('b/y')).toContain('Words.');
    expect(sentTo('b/y')).not.toMatch(/Thoughts|signed|msg_1|thoughtSignature/);
  });

  it('has ids of calls that every provider accepts, also in the results, and the same in every request', () => {
    const ids = ['functions.read:0', 'call|1', 'x'.repeat(100), 'c1'];
    const calls = ids.map((toolCallId) => ({ toolCallId, toolName: 'read', input: {} }));
    const results = calls.map((call) => ({ ...call, output: call.toolCallId, isError: false }));
    const steps = [1, 2, 40].map((at) => buildStep({ step: at, toolCalls: calls, toolResults: results, model: 'a/x' }));
    const idsOf = (role: string, messages = conversationOf(build({ steps }), { model: 'b/y' })) =>
      messages.flatMap((message) =>
        message.role === role && typeof message.content !== 'string'
          ? message.content.flatMap((part) => ('toolCallId' in part ? part.toolCallId : []))
          : [],
      );
    expect(new Set(idsOf('assistant')).size).toBe(12);
    for (const id of idsOf('assistant')) expect(id).toMatch(/^[a-z0-9]{9}$/);
    expect(idsOf('tool')).toEqual(idsOf('assistant'));
    const before = conversationOf(build({ steps: structuredClone(steps.slice(0, 2)) }), { model: 'b/y' });
    expect(idsOf('tool', before)).toEqual(idsOf('tool').slice(0, 8));
    const outputs = outputsOf(conversationOf(build({ steps }), { model: 'b/y' }));
    expect(outputs.slice(0, 4)).toEqual(ids);
    expect(idsOf('tool', conversationOf(build({ steps }), { model: 'a/x' }))).toEqual([...ids, ...ids, ...ids]);
  });

  it('has the answer to its question', () => {
    const call = { toolCallId: 'c1', toolName: 'ask', input: { question: 'MIT or ISC?' } };
    const asking = buildStep({
      toolCalls: [call],
      toolResults: [{ ...call, output: 'None yet.', isError: false }],
      model: 'a/x',
    });
    const prompts = [
      { turn: 1, step: 0, prompt: 'Go' },
      { turn: 2, step: 0, prompt: 'ISC' },
    ];
    const messages = conversationOf(build({ prompts, steps: [asking] }), { model: 'b/y' });
    expect(outputsOf(messages)).toEqual(['The person answers:\nISC']);
  });

  it('is sent whole to the model that gave it, and where the model is not known', () => {
    for (const sent of [sentTo('a/x'), sentTo(null), sentTo('b/y', null)])
      expect(sent).toMatch(/Thoughts.*signed.*msg_1/);
  });
});
