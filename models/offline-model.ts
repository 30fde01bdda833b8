import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';

/** A part of an answer: a word of its text, a source it quotes, or a call of a tool. */
export type AnswerPart =
  | { type: 'word'; text: string }
  | { type: 'source'; id: string; url: string; title: string }
  | { type: 'call'; id: string; toolName: string; input: unknown };

export interface OfflineModelOptions {
  modelId: string;
  /** Computes the whole answer from the prompt alone: no clock, no network, no state between calls. */
  answer(options: LanguageModelV4CallOptions): Iterable<AnswerPart>;
}

/** Creates a language model with the AI SDK's interface whose answers are computed on this machine. */
export function createOfflineModel({ modelId, answer }: OfflineModelOptions): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'offline',
    modelId,
    supportedUrls: {},
    async doGenerate(options) {
      options.abortSignal?.throwIfAborted();
      const content: LanguageModelV4Content[] = [];
      let finish = finishOf(options.prompt, 0, false);
      for (const part of streamParts(options, answer(options))) {
        if (part.type === 'tool-call' || part.type === 'source') content.push(part);
        if (part.type === 'text-start') content.push({ type: 'text', text: '' });
        if (part.type === 'text-delta') {
          const text = content.at(-1);
          if (text?.type === 'text') text.text += part.delta;
        }
        if (part.type === 'finish') finish = part;
      }
      const { usage, finishReason } = finish;
      return { content, finishReason, usage, warnings: [], response: { modelId } };
    },
    async doStream(options) {
      options.abortSignal?.throwIfAborted();
      const parts = streamParts(options, answer(options));
      return { stream: pulledStream(parts, options.abortSignal) };
    },
  };
}

/** Returns the words of a text, each with the space before it; joined, they are the text. */
export function* wordsOf(text: string): Generator<AnswerPart> {
  for (const [word] of text.matchAll(/\s*\S+|\s+$/gu)) yield { type: 'word', text: word };
}

function* streamParts(
  { prompt, reasoning = 'provider-default' }: LanguageModelV4CallOptions,
  parts: Iterable<AnswerPart>,
): Generator<LanguageModelV4StreamPart> {
  const hasEffort = reasoning !== 'provider-default';
  yield { type: 'stream-start', warnings: hasEffort ? [{ type: 'unsupported', feature: 'reasoning' }] : [] };
  let openText: string | null = null;
  let texts = 0;
  let length = 0;
  let hasCalls = false;
  for (const part of parts) {
    if (part.type === 'word') {
      if (openText === null) {
        texts += 1;
        openText = `text-${texts}`;
        yield { type: 'text-start', id: openText };
      }
      length += part.text.length;
      yield { type: 'text-delta', id: openText, delta: part.text };
      continue;
    }
    if (openText !== null) yield { type: 'text-end', id: openText };
    openText = null;
    if (part.type === 'source') {
      yield { type: 'source', sourceType: 'url', id: part.id, url: part.url, title: part.title };
      continue;
    }
    hasCalls = true;
    const input = JSON.stringify(part.input);
    length += input.length;
    yield { type: 'tool-input-start', id: part.id, toolName: part.toolName };
    yield { type: 'tool-input-delta', id: part.id, delta: input };
    yield { type: 'tool-input-end', id: part.id };
    yield { type: 'tool-call', toolCallId: part.id, toolName: part.toolName, input };
  }
  if (openText !== null) yield { type: 'text-end', id: openText };
  yield finishOf(prompt, length, hasCalls);
}

function pulledStream(
  parts: Generator<LanguageModelV4StreamPart>,
  signal: AbortSignal | undefined,
): ReadableStream<LanguageModelV4StreamPart> {
  return new ReadableStream({
    pull(controller) {
      if (signal?.aborted === true) return controller.error(signal.reason);
      const next = parts.next();
      if (next.done === true) return controller.close();
      controller.enqueue(next.value);
    },
    cancel() {
      parts.return(undefined);
    },
  });
}

interface Finish {
  type: 'finish';
  usage: LanguageModelV4Usage;
  finishReason: LanguageModelV4FinishReason;
}

function finishOf(prompt: LanguageModelV4Prompt, outputLength: number, hasCalls: boolean): Finish {
  const reason = hasCalls ? 'tool-calls' : 'stop';
  return { type: 'finish', finishReason: { unified: reason, raw: reason }, usage: usageOf(prompt, outputLength) };
}

/** About four characters per token, as hosted models count English. */
function usageOf(prompt: LanguageModelV4Prompt, outputLength: number): LanguageModelV4Usage {
  const inputTokens = Math.ceil(prompt.reduce((sum, message) => sum + lengthOf(message.content), 0) / 4);
  const outputTokens = Math.ceil(outputLength / 4);
  return {
    inputTokens: { total: inputTokens, noCache: inputTokens, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: outputTokens, text: outputTokens, reasoning: undefined },
  };
}

function lengthOf(content: LanguageModelV4Prompt[number]['content']): number {
  if (typeof content === 'string') return content.length;
  let length = 0;
  for (const part of content) {
    if (part.type === 'text') length += part.text.length;
    else if (part.type === 'tool-call') length += JSON.stringify(part.input ?? null).length;
    else if (part.type === 'tool-result') length += JSON.stringify(part.output).length;
  }
  return length;
}
