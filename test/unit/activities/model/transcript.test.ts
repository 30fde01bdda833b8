import { describe, expect, it } from 'vitest';
import { conversationOf, transcriptAt, type Transcript } from '../../../../activities/model/transcript.ts';
import { buildStep } from '../build-step.ts';

function buildRead(id: string, output: string) {
  return {
    toolCalls: [{ toolCallId: id, toolName: 'read', input: { path: 'a' } }],
    toolResults: [{ toolCallId: id, toolName: 'read', output, isError: false }],
  };
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

  it('puts what was said meanwhile before the answer that was the first to know it', () => {
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

  it('answers a call that was never run, so that no provider refuses the transcript', () => {
    const steps = [buildStep({ ...buildRead('c1', ''), toolResults: null })];
    const messages = conversationOf(build({ steps }));
    expect(messages.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ toolCallId: 'c1', output: { type: 'error-text', value: 'This call was not run.' } }],
    });
  });

  it('leaves out a step without an answer, and an answer without content', () => {
    const open = { ...buildStep(), response: null };
    const messages = conversationOf(build({ steps: [buildStep(), open] }));
    expect(messages).toEqual([{ role: 'user', content: 'Go' }]);
  });

  it('keeps every output of a small transcript', () => {
    const steps = Array.from({ length: 30 }, (_, index) =>
      buildStep({ step: index + 1, ...buildRead(`c${index}`, 'x'.repeat(1_000)) }),
    );
    const outputs = outputsOf(conversationOf(build({ steps })));
    expect(outputs.every((output) => output.length === 1_000)).toBe(true);
  });

  it('masks the older outputs of a large one, and none of the newest ten', () => {
    const steps = Array.from({ length: 30 }, (_, index) =>
      buildStep({ step: index + 1, ...buildRead(`c${index}`, 'x'.repeat(10_000)) }),
    );
    const outputs = outputsOf(conversationOf(build({ steps })));
    expect(outputs.slice(0, 20).every((output) => output.startsWith('[10000 characters of an earlier read'))).toBe(
      true,
    );
    expect(outputs.slice(20).every((output) => output.length === 10_000)).toBe(true);
  });
});

describe('what the service says', () => {
  const note = { turn: 1, step: 2, kind: 'nudge' as const, text: 'Stop that.' };

  it('stands in the last tool result, whatever is masked there', () => {
    const steps = Array.from({ length: 30 }, (_, index) =>
      buildStep({ step: index + 1, ...buildRead(`c${index}`, 'x'.repeat(10_000)) }),
    );
    const outputs = outputsOf(conversationOf(build({ steps, notes: [note] })));
    expect(outputs[0]).toMatch(
      /^\[10000 characters of an earlier read of a omitted; .*\]\n\n\(Note of the service: Stop/,
    );
    expect(outputs[1]).not.toContain('Note');
  });

  it('stands behind what a person said, when no tool ran before', () => {
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

  it('has all that was asked, the notes, the ledger and the steps behind them', () => {
    const [first, meanwhile, notes, ...rest] = textsOf(6);
    expect([first, meanwhile, ...rest]).toEqual(['First', 'Meanwhile', 'answer 3', 'Later', 'answer 4', 'answer 5']);
    for (const part of ['The lamp is in a.ts.', '- a.ts (etag abc123)', '- b.ts', '[ ] Test it'])
      expect(notes).toContain(part);
  });

  it('is the whole one for the calls before it', () => {
    expect(textsOf(3)).toEqual(['First', 'answer 1', 'Meanwhile', 'answer 2']);
  });
});
