import type {
  LanguageModelV4,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCall,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { PricedUsage } from '../../models/prices.ts';
import { lostTokens, noTokens, usedTokens, type CallLength } from '../../models/used-tokens.ts';
import { ApiError } from '../http/errors.ts';
import type { ReservedCall, ReserveCall } from './answer-budget.ts';
import type { TokenUsage } from '../../workflows/contract/job.ts';
import { createStepAnswer, type StepAnswer } from './step-answer.ts';

/** A tool the model may call while it answers. `run` returns text for the model, even when it finds nothing. */
export interface AnswerTool {
  definition: LanguageModelV4FunctionTool;
  run(input: string): string | Promise<string>;
}

/** Longest input of the tools that a step calls, in characters; a provider's client parses it at each chunk. */
const maxInputsLength = 20_000;
/** A step with more calls is rejected. */
const maxCallsSent = 200;

type StepCall = Pick<ReservedCall, 'model' | 'maxOutputTokens'> & { settle(usage: PricedUsage): Promise<void> };

interface RunningCall extends Omit<StepCall, 'settle'> {
  prompt: LanguageModelV4Prompt;
  mayCall: boolean;
  /** Settles the cost of the call; `error` is why it was interrupted, if it was. */
  settle(error: unknown): Promise<void>;
}

export interface GenerateOptions {
  prompt: LanguageModelV4Prompt;
  /** Length of the prompt as JSON, in characters. */
  promptCharacters: number;
  tools: AnswerTool[];
  /** Maximum number of model calls. The last one may not call tools. */
  maxSteps: number;
  /** Time without output after which the model counts as stalled. Time spent waiting for the reader does not count. */
  stalledMs: number;
  /** The same before the first text or call of a step: until then a model loads, reads and thinks, often in silence. */
  startMs: number;
  /** Longest text of one step, in characters. */
  maxTextLength: number;
  /** Reserves the cost of a step whose prompt has that many characters, and names the model that takes it. */
  reserveCall(characters: number): Promise<StepCall>;
  signal: AbortSignal;
}

/** A chunk of an answer: text, or the URL of a source that the model names. */
export type AnswerChunk = { type: 'text'; text: string } | { type: 'source'; url: string };

/** Accepts the next chunk. Returns null when the next one may follow at once, or a promise to await first. */
export type TakeChunk = (chunk: AnswerChunk) => Promise<void> | null;

/** Thrown when an answer is interrupted. The message is a fixed sentence for the reader; the cause is for the log. */
export class GenerationError extends Error {
  override name = 'GenerationError';
}

const brokeOff = 'The answer was interrupted because the language model failed. Ask again.';
const stalled = 'The answer was interrupted because the language model stopped responding. Ask again.';
const noAnswer = 'The language model returned no answer. Ask again.';

/** More than any model thinks in one step; it is sent back with the results of the step's calls. */
const maxReasoningLength = 1_000_000;
/** Maximum number of tool calls run per step. For each further call the model gets a notice instead of a result. */
const maxCallsPerStep = 8;
const tooManyCalls = 'Not run: too many calls at once. Go on with the results of the others.';

/**
 * Generates an answer, forwarding each chunk as the model streams it. Token counts are added to the given `usage`.
 * Throws GenerationError when the model fails; when the signal aborts, it returns without an error.
 */
export async function generate(options: GenerateOptions, usage: TokenUsage, take: TakeChunk): Promise<void> {
  const prompt = [...options.prompt];
  const toolCharacters = JSON.stringify(options.tools.map(({ definition }) => definition)).length;
  let sentCharacters = options.promptCharacters;
  let hasText = false;
  for (let step = 1; ; step += 1) {
    const mayCall = step < options.maxSteps && options.tools.length > 0;
    const calls: LanguageModelV4ToolCall[] = [];
    const answer = createStepAnswer();
    let text = '';
    let reasoningCharacters = 0;
    let inputCharacters = 0;
    let used: PricedUsage | null = null;
    const length = (): CallLength => ({
      sentCharacters: sentCharacters + toolCharacters,
      receivedCharacters: text.length + reasoningCharacters + Math.max(inputCharacters, JSON.stringify(calls).length),
    });
    const call = await options.reserveCall(sentCharacters);
    if (options.signal.aborted) return call.settle(noTokens);
    const settle = (error: unknown) => call.settle(used ?? lostTokens(error, length()));
    await streamStep(options, { ...call, settle, prompt, mayCall }, (part) => {
      answer.take(part);
      switch (part.type) {
        case 'text-delta': {
          if (part.delta === '') return null;
          // start a new paragraph after text that preceded a tool call
          if (text === '' && hasText) void take({ type: 'text', text: '\n\n' });
          text += part.delta;
          if (text.length > options.maxTextLength) throw new Error('The answer is too long.');
          return take({ type: 'text', text: part.delta });
        }
        case 'source':
          return part.sourceType === 'url' ? take({ type: 'source', url: part.url }) : null;
        case 'reasoning-delta':
          reasoningCharacters += part.delta.length;
          if (reasoningCharacters > maxReasoningLength) throw new Error('The reasoning is too long.');
          return null;
        case 'tool-input-delta':
          inputCharacters += part.delta.length;
          if (inputCharacters > maxInputsLength) throw new Error('The input of the tools is too long.');
          return null;
        case 'tool-call':
          calls.push(part);
          if (calls.length > maxCallsSent || part.input.length > maxInputsLength)
            throw new Error('The calls are too long.');
          return null;
        case 'finish':
          used = usageOf(part.usage, length());
          usage.inputTokens += used.inputTokens;
          usage.outputTokens += used.outputTokens;
          return null;
        default:
          return null;
      }
    });
    hasText ||= text.trim() !== '';
    if (options.signal.aborted) return;
    if (calls.length === 0 || !mayCall) break;
    const more = await messagesOf(answer, calls, options.tools);
    prompt.push(...more);
    sentCharacters += JSON.stringify(more).length;
  }
  if (!hasText) throw new GenerationError(noAnswer);
}

/** Runs one model call and settles its cost, however it ends. A delta costs no timer, and no promise but that of its read. */
async function streamStep(
  { tools, signal, stalledMs, startMs }: GenerateOptions,
  { model, maxOutputTokens, settle, prompt, mayCall }: RunningCall,
  take: (part: StreamPart) => Promise<void> | null,
): Promise<void> {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  let hasStalled = false;
  let hasFinished = false;
  let failure: unknown = null;
  let reader: ReadableStreamDefaultReader<StreamPart> | null = null;
  /** Time since which the model owes the next part; null when it does not, so that a slow reader is no stall. */
  let askedAt: number | null = performance.now();
  let maxMs = startMs;
  let timer = setTimeout(checkStall, stalledMs);
  function checkStall(): void {
    const silentMs = askedAt === null ? 0 : performance.now() - askedAt;
    // timers may fire slightly early
    if (silentMs + 1 < maxMs) {
      timer = setTimeout(checkStall, Math.min(maxMs - silentMs, stalledMs));
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
          ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
          // always declare the tools: without them, some providers reject a conversation that contains calls
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
      if (outputTypes.has(value.type)) maxMs = stalledMs;
      if (value.type === 'finish') {
        hasFinished = true;
        if (value.finishReason.unified === 'error') throw new Error('The model ended with an error.');
      }
      const blocked = take(value);
      if (blocked !== null) await blocked;
    }
  } catch (error) {
    failure = error;
    if (signal.aborted) return;
    throw new GenerationError(hasStalled ? stalled : brokeOff, { cause: error });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    if (!hasFinished) controller.abort();
    await settle(failure);
  }
  if (signal.aborted) return;
  if (hasStalled) throw new GenerationError(stalled);
  if (!hasFinished) throw new GenerationError(brokeOff);
}

/** Returns the tokens that an answered call is charged for. */
export function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage, length: CallLength): PricedUsage {
  const { total, cacheRead: cachedInputTokens, cacheWrite: cacheWriteTokens } = inputTokens;
  const reported = { inputTokens: total, cachedInputTokens, cacheWriteTokens, outputTokens: outputTokens.total };
  return usedTokens(reported, length);
}

/** Parts after which a model no longer thinks in silence. */
const outputTypes: ReadonlySet<StreamPart['type']> = new Set(['text-delta', 'tool-input-start', 'tool-call']);

type StreamPart =
  Awaited<ReturnType<LanguageModelV4['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never;

/** Rejects on abort, so that a provider that ignores its signal cannot block the reply. */
function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(new Error('aborted'));
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}

async function messagesOf(
  answer: StepAnswer,
  calls: LanguageModelV4ToolCall[],
  tools: AnswerTool[],
): Promise<LanguageModelV4Message[]> {
  return [
    { role: 'assistant', content: answer.content() },
    {
      role: 'tool',
      content: await Promise.all(
        calls.map(async ({ toolCallId, toolName, input }, position) => {
          const value = position < maxCallsPerStep ? await resultOf(toolName, input, tools) : tooManyCalls;
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

/** Reserves a further call of an answer whose stream has begun. Throws GenerationError when the budget is spent. */
export async function reserveNext(reserveCall: ReserveCall, call: Parameters<ReserveCall>[0]): Promise<ReservedCall> {
  try {
    return await reserveCall(call);
  } catch (error) {
    if (error instanceof ApiError) throw new GenerationError(error.message, { cause: error });
    throw error;
  }
}
