import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { generate, GenerationError } from '../../../../api/assistant/generate.ts';
import type { AnswerChunk, AnswerTool } from '../../../../api/assistant/generate.ts';
import type { PricedUsage } from '../../../../models/prices.ts';

const finish = (reason: 'stop' | 'tool-calls' | 'error' = 'stop'): LanguageModelV4StreamPart => ({
  type: 'finish',
  finishReason: { unified: reason, raw: reason },
  usage: {
    inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 2, text: 2, reasoning: 0 },
  },
});
const delta = (text: string): LanguageModelV4StreamPart => ({ type: 'text-delta', id: '1', delta: text });

/** A model that plays one list of parts per call; an endless list never ends. */
function modelOf(
  calls: (LanguageModelV4StreamPart[] | 'stall')[],
  seen: LanguageModelV4CallOptions[] = [],
): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'test',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not used')),
    doStream(options) {
      seen.push(options);
      const parts = calls[seen.length - 1];
      return Promise.resolve({
        stream: new ReadableStream({
          start(controller) {
            if (parts === undefined || parts === 'stall') return;
            for (const part of parts) controller.enqueue(part);
            controller.close();
          },
        }),
      });
    },
  };
}

/** Steps of the model; `held` gets the characters of each prompt, and `settled` the usage of each. */
const stepsOf = (model: LanguageModelV4, held: number[] = [], settled: PricedUsage[] = []) => ({
  async reserveCall(characters: number) {
    held.push(characters);
    return { model, maxOutputTokens: null, settle: async (used: PricedUsage) => void settled.push(used) };
  },
});

async function run(
  model: LanguageModelV4,
  {
    tools = [],
    signal = new AbortController().signal,
    stalledMs = 10_000,
    startMs = stalledMs,
    held,
    settled,
  }: {
    tools?: AnswerTool[];
    signal?: AbortSignal;
    stalledMs?: number;
    startMs?: number;
    held?: number[];
    settled?: PricedUsage[];
  } = {},
) {
  const usage = { inputTokens: 0, outputTokens: 0 };
  const texts: string[] = [];
  await generate(
    {
      prompt: [],
      promptCharacters: 2,
      tools,
      maxSteps: 3,
      stalledMs,
      startMs,
      maxTextLength: 1_000,
      signal,
      ...stepsOf(model, held, settled),
    },
    usage,
    (chunk) => {
      if (chunk.type === 'text') texts.push(chunk.text);
      return null;
    },
  );
  return { texts, usage };
}

const tool: AnswerTool = {
  definition: { type: 'function', name: 'search', inputSchema: { type: 'object' } },
  run: (input) => `found ${input}`,
};
const call: LanguageModelV4StreamPart = {
  type: 'tool-call',
  toolCallId: 'c1',
  toolName: 'search',
  input: '{"query":"x"}',
};

describe('generate', () => {
  it('passes deltas on and counts the usage', async () => {
    expect(await run(modelOf([[delta('a'), delta(''), delta('b'), finish()]]))).toEqual({
      texts: ['a', 'b'],
      usage: { inputTokens: 10, outputTokens: 2 },
    });
  });

  it('runs tool calls and calls the model again, with tools disabled the last time', async () => {
    const seen: LanguageModelV4CallOptions[] = [];
    const model = modelOf(
      [
        [{ type: 'reasoning-start', id: 'r' }, call, finish('tool-calls')],
        [call, finish('tool-calls')],
        [delta('done'), finish()],
      ],
      seen,
    );
    expect((await run(model, { tools: [tool] })).texts).toEqual(['done']);
    expect(seen.map(({ tools }) => tools?.length)).toEqual([1, 1, 1]);
    expect(seen.map(({ toolChoice }) => toolChoice?.type)).toEqual(['auto', 'auto', 'none']);
    expect(seen[2]?.prompt.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant', 'tool']);
    expect(seen[1]?.prompt[0]?.content).toMatchObject([{ type: 'reasoning' }, { type: 'tool-call' }]);
    expect(JSON.stringify(seen[1]?.prompt)).toContain('found {\\"query\\":\\"x\\"}');
  });

  it('reserves each step by the length of its whole prompt', async () => {
    const seen: LanguageModelV4CallOptions[] = [];
    const held: number[] = [];
    const steps = [
      [call, finish('tool-calls')],
      [call, finish('tool-calls')],
      [delta('done'), finish()],
    ];
    await run(modelOf(steps, seen), { tools: [tool], held });
    const last = JSON.stringify(seen[2]?.prompt).length;
    expect(held).toHaveLength(3);
    expect(held[2]).toBeGreaterThanOrEqual(last);
    // the comma or the brackets between two parts are counted twice
    expect(held[2]).toBeLessThanOrEqual(last + 4);
    expect(held[1]).toBeLessThan(last);
  });

  it.each([
    ['an error part', [delta('a'), { type: 'error', error: new Error('secret') }]],
    ['a finish with an error', [delta('a'), finish('error')]],
    ['an end without a finish', [delta('a')]],
  ] satisfies [string, LanguageModelV4StreamPart[]][])('fails with a fixed sentence at %s', async (_name, parts) => {
    const error = await run(modelOf([parts])).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(GenerationError);
    expect(String(error)).not.toContain('secret');
  });

  it('settles each call once, one without an answer by what was sent and received', async () => {
    const thought: LanguageModelV4StreamPart = { type: 'reasoning-delta', id: '1', delta: 't'.repeat(35) };
    const input: LanguageModelV4StreamPart = { type: 'tool-input-delta', id: '1', delta: 'i'.repeat(70) };
    const settled: PricedUsage[] = [];
    const model = modelOf([
      [call, finish('tool-calls')],
      [thought, delta('a'.repeat(105)), input, { type: 'error', error: new Error('broke off') }],
    ]);
    await expect(run(model, { tools: [tool], settled })).rejects.toThrow(GenerationError);
    expect(settled).toMatchObject([
      { inputTokens: 10, outputTokens: 2 },
      { inputTokens: expect.any(Number), outputTokens: 60 },
    ]);
    expect(settled[1]!.inputTokens).toBeGreaterThan(JSON.stringify(tool.definition).length / 3.5);
  });

  it('settles a call that is not sent, because the reader has left, at nothing', async () => {
    const [seen, settled]: [LanguageModelV4CallOptions[], PricedUsage[]] = [[], []];
    await run(modelOf([[delta('a'), finish()]], seen), { signal: AbortSignal.abort(), settled });
    expect([seen, settled]).toMatchObject([[], [{ inputTokens: 0, outputTokens: 0 }]]);
  });

  it('puts a blank line between text before a tool call and the answer', async () => {
    const model = modelOf([
      [delta('Let me look.'), call, finish('tool-calls')],
      [delta('Done.'), finish()],
    ]);
    expect((await run(model, { tools: [tool] })).texts.join('')).toBe('Let me look.\n\nDone.');
  });

  it('runs a few calls per step and tells the model about the rest', async () => {
    const seen: LanguageModelV4CallOptions[] = [];
    const calls = Array.from({ length: 50 }, (_, index) => ({ ...call, toolCallId: `c${index}` }));
    await run(
      modelOf(
        [
          [...calls, finish('tool-calls')],
          [delta('done'), finish()],
        ],
        seen,
      ),
      { tools: [tool] },
    );
    const results = JSON.stringify(seen[1]?.prompt);
    expect(results.match(/found/g)).toHaveLength(8);
    expect(results.match(/too many calls/g)).toHaveLength(42);
  });

  it.each([
    [
      'chunks',
      [
        delta('a'),
        ...Array.from({ length: 30 }, () => ({ type: 'tool-input-delta' as const, id: '1', delta: 'x'.repeat(1_000) })),
      ],
    ],
    ['whole', [{ ...call, input: JSON.stringify({ query: 'x'.repeat(30_000) }) }]],
    ['number', Array.from({ length: 300 }, () => call)],
  ] satisfies [string, LanguageModelV4StreamPart[]][])('refuses calls without end: %s', async (_name, parts) => {
    const seen: LanguageModelV4CallOptions[] = [];
    const model = modelOf(
      [
        [...parts, finish('tool-calls')],
        [delta('done'), finish()],
      ],
      seen,
    );
    await expect(run(model, { tools: [tool] })).rejects.toThrow(GenerationError);
    expect(seen).toHaveLength(1);
  });

  it.each([
    ['nothing', [finish()]],
    ['blanks', [delta(' \n'), finish()]],
    ['calls of tools alone', [call, finish('tool-calls')]],
  ] satisfies [string, LanguageModelV4StreamPart[]][])('fails when the model says %s', async (_name, parts) => {
    await expect(run(modelOf([parts, parts, parts]), { tools: [tool] })).rejects.toThrow(/returned no answer/);
  });

  it('fails when a model never stops talking or thinking', async () => {
    const thought = { type: 'reasoning-delta' as const, id: 'r', delta: 'x'.repeat(1_000_001) };
    for (const part of [delta('x'.repeat(1_001)), thought])
      await expect(run(modelOf([[part, finish()]]))).rejects.toThrow(/language model failed/);
  });

  it('waits for a slow reader', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const usage = { inputTokens: 0, outputTokens: 0 };
    const model = modelOf([[delta('a'), delta('b'), finish()]]);
    const chunks: AnswerChunk[] = [];
    const answer = generate(
      {
        prompt: [],
        promptCharacters: 2,
        tools: [],
        maxSteps: 3,
        stalledMs: 500,
        startMs: 500,
        maxTextLength: 1_000,
        signal: new AbortController().signal,
        ...stepsOf(model),
      },
      usage,
      (chunk) => {
        chunks.push(chunk);
        return new Promise((resolve) => setTimeout(resolve, 1_000));
      },
    );
    await vi.advanceTimersByTimeAsync(2_000);
    await answer;
    expect(chunks).toHaveLength(2);
  });

  it('fails when the model stalls', async () => {
    await expect(run(modelOf(['stall']), { stalledMs: 20 })).rejects.toThrow(/stopped responding/);
  });

  it('waits longer for a model that has not begun, and no longer for one that has', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { promise, resolve } = Promise.withResolvers<LanguageModelV4StreamPart>();
    const stream = new ReadableStream({
      start: async (controller) => controller.enqueue(await promise),
    });
    const model: LanguageModelV4 = { ...modelOf([]), doStream: async () => ({ stream }) };
    let ending = 'none yet';
    void run(model, { stalledMs: 20, startMs: 60_000 }).catch(({ message }) => (ending = message));
    await vi.advanceTimersByTimeAsync(50_000);
    expect(ending).toBe('none yet');
    resolve(delta('a'));
    await vi.advanceTimersByTimeAsync(100);
    expect(ending).toMatch(/stopped responding/);
  });

  it('ends without an error when it is aborted, and aborts the model call', async () => {
    const controller = new AbortController();
    const seen: LanguageModelV4CallOptions[] = [];
    const running = run(modelOf(['stall'], seen), { signal: controller.signal });
    controller.abort();
    expect((await running).texts).toEqual([]);
    expect(seen.every(({ abortSignal }) => abortSignal?.aborted === true)).toBe(true);
  });
});
