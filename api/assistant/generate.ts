import type {
  LanguageModelV4,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { usedTokens, type CallLength } from '../../models/used-tokens.ts';
import type { ReplyUsage } from './reply.ts';

/** What the model may look up while it answers. `run` answers text for the model, also when it finds nothing. */
export interface AnswerTool {
  definition: LanguageModelV4FunctionTool;
  run(input: string): string | Promise<string>;
}

export interface GenerateOptions {
  model: LanguageModelV4;
  prompt: LanguageModelV4Prompt;
  tools: AnswerTool[];
  /** Model calls at most; in the last one no tool may be called. */
  maxSteps: number;
  /** A model that sends nothing for so long, while something is asked of it, has stalled. */
  stalledMs: number;
  /** The longest text of one step, in characters. */
  longestText: number;
  signal: AbortSignal;
}

/** A piece of an answer: text, or the address of a source that the model names as one. */
export type AnswerPiece = { type: 'text'; text: string } | { type: 'source'; url: string };

/** Takes the next piece. Null while more may come at once; else nothing more may come before it resolves. */
export type TakePiece = (piece: AnswerPiece) => Promise<void> | null;

/** The model broke off: it failed, stalled, or ended without a finish. The message is a fixed sentence; the cause is for the log. */
export class GenerationError extends Error {
  override name = 'GenerationError';
}

const brokeOff = 'The answer broke off because the language model failed. Please ask again.';
const stalled = 'The answer broke off because the language model did not go on. Please ask again.';
const saidNothing = 'The language model gave no answer. Please ask again.';

/** Calls of one step that are run; a model that asks for more is told to go on with these. */
const mostCallsOfAStep = 8;
const tooManyCalls = 'Not run: too many calls at once. Go on with the results of the others.';

/**
 * An answer as the model makes it, handed on piece by piece, straight from its stream; `usage` is counted into the given object.
 * Errors: GenerationError; an abort of the signal ends it without one.
 */
export async function generate(options: GenerateOptions, usage: ReplyUsage, take: TakePiece): Promise<void> {
  const prompt = [...options.prompt];
  let hasText = false;
  for (let step = 1; ; step += 1) {
    const mayCall = step < options.maxSteps && options.tools.length > 0;
    const calls: LanguageModelV4ToolCall[] = [];
    let text = '';
    await streamStep(options, { prompt, mayCall }, (part) => {
      switch (part.type) {
        case 'text-delta': {
          if (part.delta === '') return null;
          // what it said before a tool call is a paragraph of its own
          if (text === '' && hasText) void take({ type: 'text', text: '\n\n' });
          text += part.delta;
          if (text.length > options.longestText) throw new Error('The answer is too long.');
          return take({ type: 'text', text: part.delta });
        }
        case 'source':
          return part.sourceType === 'url' ? take({ type: 'source', url: part.url }) : null;
        case 'tool-call':
          calls.push(part);
          return null;
        case 'finish':
          count(usage, part.usage, {
            sentCharacters: JSON.stringify(prompt).length,
            receivedCharacters: text.length + JSON.stringify(calls).length,
          });
          return null;
        default:
          return null;
      }
    });
    hasText ||= text.trim() !== '';
    if (options.signal.aborted) return;
    if (calls.length === 0 || !mayCall) break;
    prompt.push(...(await messagesOf(text, calls, options.tools)));
  }
  if (!hasText) throw new GenerationError(saidNothing);
}

/** One model call. A delta costs no timer and no promise beside the one of its reading. */
async function streamStep(
  { model, tools, signal, stalledMs }: GenerateOptions,
  { prompt, mayCall }: { prompt: LanguageModelV4Prompt; mayCall: boolean },
  take: (part: StreamPart) => Promise<void> | null,
): Promise<void> {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  if (signal.aborted) return;
  signal.addEventListener('abort', abort, { once: true });
  let hasStalled = false;
  let hasFinished = false;
  let reader: ReadableStreamDefaultReader<StreamPart> | null = null;
  /** Since when the model owes the next part; null while it is not asked: a slow reader is no fault of the model. */
  let askedAt: number | null = performance.now();
  let timer = setTimeout(checkStall, stalledMs);
  function checkStall(): void {
    const silentMs = askedAt === null ? 0 : performance.now() - askedAt;
    // timers may be a little early
    if (silentMs + 1 < stalledMs) {
      timer = setTimeout(checkStall, stalledMs - silentMs);
      return;
    }
    hasStalled = true;
    controller.abort();
  }
  const cancel = () => void reader?.cancel().catch(() => {});
  controller.signal.addEventListener('abort', cancel);

  try {
    const result = await rejectOnAbort(
      Promise.resolve(
        model.doStream({
          prompt,
          abortSignal: controller.signal,
          // tools stay declared where they may not be called: some providers refuse a conversation with calls otherwise
          ...(tools.length === 0
            ? {}
            : {
                tools: tools.map((tool) => tool.definition),
                toolChoice: { type: mayCall ? ('auto' as const) : ('none' as const) },
              }),
        }),
      ),
      controller.signal,
    );
    reader = result.stream.getReader();
    if (controller.signal.aborted) cancel();
    for (;;) {
      askedAt = performance.now();
      const { done, value } = await reader.read();
      askedAt = null;
      if (done) break;
      if (value.type === 'error') throw value.error;
      if (value.type === 'finish') {
        hasFinished = true;
        if (value.finishReason.unified === 'error') throw new Error('The model finished with an error.');
      }
      const blocked = take(value);
      if (blocked !== null) await blocked;
    }
  } catch (error) {
    if (signal.aborted) return;
    throw new GenerationError(hasStalled ? stalled : brokeOff, { cause: error });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    if (!hasFinished) controller.abort();
  }
  if (signal.aborted) return;
  if (hasStalled) throw new GenerationError(stalled);
  if (!hasFinished) throw new GenerationError(brokeOff);
}

function count(usage: ReplyUsage, { inputTokens, outputTokens }: LanguageModelV4Usage, length: CallLength): void {
  const used = usedTokens({ inputTokens: inputTokens.total, outputTokens: outputTokens.total }, length);
  usage.promptTokens += used.inputTokens;
  usage.completionTokens += used.outputTokens;
}

type StreamPart =
  Awaited<ReturnType<LanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

/** A provider that ignores its signal must not hold the reply. */
function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(new Error('aborted'));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}

async function messagesOf(
  text: string,
  calls: LanguageModelV4ToolCall[],
  tools: AnswerTool[],
): Promise<LanguageModelV4Message[]> {
  return [
    {
      role: 'assistant',
      content: [
        ...(text === '' ? [] : [{ type: 'text' as const, text }]),
        ...calls.map(({ toolCallId, toolName, input, providerMetadata }) => ({
          type: 'tool-call' as const,
          toolCallId,
          toolName,
          input: parseInput(input),
          providerOptions: providerMetadata,
        })),
      ],
    },
    {
      role: 'tool',
      content: await Promise.all(
        calls.map(async ({ toolCallId, toolName, input }, position) => {
          const value = position < mostCallsOfAStep ? await resultOf(toolName, input, tools) : tooManyCalls;
          return { type: 'tool-result' as const, toolCallId, toolName, output: { type: 'text' as const, value } };
        }),
      ),
    },
  ];
}

async function resultOf(toolName: string, input: string, tools: AnswerTool[]): Promise<string> {
  const tool = tools.find(({ definition }) => definition.name === toolName);
  return tool === undefined ? `There is no tool ${toolName}.` : tool.run(input);
}

/** Providers want an object back, also for input that did not parse. */
function parseInput(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return {};
  }
}
