import { createHash } from 'node:crypto';
import { streamText, type CallWarning, type LanguageModelUsage, type ModelMessage } from 'ai';
import { z } from 'zod';
import type { StepResponse } from '../../db/for-worker/steps.ts';
import type { PricedUsage } from '../../models/prices.ts';
import type { ModelRegistry } from '../../models/registry.ts';
import type { ReasoningEffort } from '../../lib/inputs/model-choice.ts';
import { createJsonScan } from '../../lib/json-scan.ts';
import { beforeRequest } from '../../models/provider-fetch.ts';
import { usedTokens, type ReportedUsage } from '../../models/used-tokens.ts';
import type { TokenUsage } from '../../workflows/contract/job.ts';
import type { AgentTool, Toolset } from '../tools/agent-tool.ts';
import { argumentLimits } from '../tools/repair-input.ts';
import { validateCall } from '../tools/run-batch.ts';
import { acceptedMessages } from './accepted-messages.ts';
import { DeclinedAnswerError, ModelCallError, SpentLimitError, UnusableAnswerError } from './model-failures.ts';
import { withCache } from './prompt-cache.ts';
import { definitionsOf, sentDefinitions, type SentDefinitions } from './tool-definitions.ts';
import { withImages, type ReadImages } from './images.ts';
import { jsonLengthOf } from './transcript/transcript.ts';

export interface ModelQuestion {
  model: string;
  system: string;
  messages: ModelMessage[];
  /** The tools that the model may call. It is offered no others, and a call of another is an error. */
  toolset: Toolset;
  signal: AbortSignal;
  /** How much the model thinks; absent or null for its own default. */
  reasoningEffort?: ReasoningEffort | null;
  /** Limit of the answer, in tokens; absent or null for the model's own. */
  maxOutputTokens?: number | null;
  /** Calls with the same key share a prefix, which the provider is asked to cache. */
  cacheKey?: string;
  /** Reads the images that messages refer to; without it there are none. */
  readImages?: ReadImages;
  /** Why the model gets sentences instead of images, as the end of one; undefined if it sees them. */
  unseen?: string;
  /**
   * Awaited immediately before the request is sent; the time limit begins afterwards. Its errors are rethrown unchanged,
   * and nothing is sent.
   */
  confirm?(): Promise<void>;
  /** Receives the answer's text as the model produces it. */
  onText?(delta: string): void;
}

export interface ModelAnswer {
  requestHash: string;
  tools: SentDefinitions;
  response: StepResponse;
  finishReason: string;
  usage: TokenUsage;
  /** The token usage in the form that prices need. */
  details: PricedUsage;
  receivedCharacters: number;
  /** Whether the model does not support the requested reasoning effort. */
  ignoresEffort: boolean;
}

export interface AskModelDeps {
  models: ModelRegistry;
  /** Silence after which a provider counts as failed. */
  timeoutMs?: number;
}

const noImages: ReadImages = () => Promise.resolve(new Map());
/** Longest accepted answer, in characters: more than 128,000 tokens. */
const maxAnswerLength = 600_000;
/** Largest number of calls of one answer that are run. */
const maxCalls = 100;
/** An answer with more calls is rejected. */
const maxCallsSent = 1_000;
const tooManyCalls = `Not run: an answer may have at most ${maxCalls} calls. Continue with the results of the others.`;

/**
 * Creates the only function that calls a job's model: one request, without retries. Errors: ModelCallError,
 * UnknownModelError.
 */
export function createAskModel({ models, timeoutMs = 9 * 60_000 }: AskModelDeps) {
  return async function askModel(question: ModelQuestion): Promise<ModelAnswer> {
    const { model, system, messages, toolset, signal, cacheKey, confirm, onText } = question;
    const { reasoningEffort, maxOutputTokens } = question;
    const tools = definitionsOf(toolset);
    const images = { read: question.readImages ?? noImages, unseen: question.unseen };
    const sent = await withImages(acceptedMessages(messages), images);
    const languageModel = models.languageModel(model);
    const over = new AbortController();
    const late = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    let streamed = 0;
    let called = 0;
    let scan = createJsonScan(argumentLimits);
    let refusal: unknown = null;
    const mayAsk = async () => {
      try {
        await confirm?.();
      } catch (error) {
        refusal = error;
        throw error;
      }
      timer = setTimeout(() => late.abort(), timeoutMs);
    };
    const ask = () =>
      streamText({
        model: languageModel,
        ...(cacheKey === undefined
          ? { instructions: system, messages: sent, tools }
          : withCache({ system, messages: sent, tools }, cacheKey)),
        reasoning: reasoningEffort ?? undefined,
        maxOutputTokens: maxOutputTokens ?? undefined,
        maxRetries: 0,
        // a connection kept from the last step may be dead without notice, and a request on it would hang for minutes
        headers: { connection: 'close' },
        abortSignal: AbortSignal.any([signal, over.signal, late.signal]),
        onError: () => undefined, // the error part below reports it
      });
    try {
      const result = beforeRequest.run(mayAsk, ask);
      // read while the stream is consumed: a promise of the result that is requested later would read all of it again
      // at once
      const steps = Promise.resolve(result.steps);
      steps.catch(() => undefined);
      for await (const part of result.stream) {
        if (part.type === 'text-delta' || part.type === 'reasoning-delta') streamed += part.text.length;
        if (part.type === 'tool-input-start') {
          called += 1;
          scan = createJsonScan(argumentLimits);
        }
        if (part.type === 'tool-input-delta') {
          streamed += part.delta.length;
          if (scan(Buffer.from(part.delta)) !== null) throw tooLong();
        }
        if (streamed > maxAnswerLength || called > maxCallsSent) throw tooLong();
        if (part.type === 'text-delta') onText?.(part.text);
        if (part.type === 'error') throw part.error;
        if (part.type === 'abort') throw new UnusableAnswerError('The answer ended early.');
      }
      const [answer] = await steps;
      if (answer === undefined) throw new UnusableAnswerError('The answer was empty.');
      const { finishReason, rawFinishReason, text, toolCalls, usage } = answer;
      const problem = problemWith({
        finishReason,
        isCut: finishReason === 'other' && rawFinishReason === undefined,
        isEmpty: text === '' && toolCalls.length === 0,
      });
      if (problem !== null) throw problem;
      const content = answer.response.messages.find(({ role }) => role === 'assistant')?.content ?? [];
      const receivedCharacters = JSON.stringify(content).length;
      if (receivedCharacters > maxAnswerLength) throw tooLong();
      const length = { sentCharacters: lengthOf(question), receivedCharacters };
      const details = usedTokens(reportedUsage(usage), length);
      return {
        requestHash: requestHashOf({ model, system, messages, tools: Object.keys(tools) }),
        tools: await sentDefinitions(toolset),
        response: {
          content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
          text,
          toolCalls: toolCalls.map((call, position) =>
            position < maxCalls ? storedCall(call, toolset) : { ...callOf(call), invalid: tooManyCalls },
          ),
        },
        finishReason,
        usage: { inputTokens: details.inputTokens, outputTokens: details.outputTokens },
        details,
        receivedCharacters,
        ignoresEffort: answer.warnings?.some(isAboutEffort) ?? false,
      };
    } catch (error) {
      if (refusal !== null) throw refusal;
      const failed = { cause: error, model, receivedCharacters: streamed, isLate: late.signal.aborted };
      throw new ModelCallError('The model call failed.', failed);
    } finally {
      clearTimeout(timer);
      over.abort(); // otherwise an abandoned stream continues
    }
  };
}

/** Names of the reasoning effort in the warnings of providers. */
const effortFeatures = new Set(['reasoning', 'reasoningEffort']);

function isAboutEffort(warning: CallWarning): boolean {
  return warning.type === 'unsupported' && effortFeatures.has(warning.feature);
}

function reportedUsage({ inputTokens, outputTokens, inputTokenDetails }: LanguageModelUsage): ReportedUsage {
  return {
    inputTokens,
    cachedInputTokens: inputTokenDetails.cacheReadTokens,
    cacheWriteTokens: inputTokenDetails.cacheWriteTokens,
    outputTokens,
  };
}

function tooLong(): UnusableAnswerError {
  return new UnusableAnswerError('The answer exceeds the longest accepted one.');
}

/** Returns the number of characters of a request that the model reads. */
export function lengthOf({
  system,
  messages,
  toolset,
}: Pick<ModelQuestion, 'system' | 'messages' | 'toolset'>): number {
  const tools = Object.entries(toolset).map(([name, agentTool]) => name.length + lengthOfTool(agentTool));
  const sent = messages.reduce((sum, message) => sum + jsonLengthOf(message) + 1, 1);
  return system.length + sent + tools.reduce((sum, length) => sum + length, 0);
}

const toolLengths = new WeakMap<AgentTool, number>();

function lengthOfTool(agentTool: AgentTool): number {
  const { description, inputSchema, jsonSchema: own } = agentTool;
  const length =
    toolLengths.get(agentTool) ??
    description.length + JSON.stringify(own ?? z.toJSONSchema(inputSchema, { io: 'input' })).length;
  toolLengths.set(agentTool, length);
  return length;
}

interface CallOfModel {
  toolCallId: string;
  toolName: string;
  input: unknown;
  invalid?: boolean;
}

/**
 * Returns a call as it is stored: with the input that its tool takes. An invalid call has the sentence that tells the model
 * how to repair it.
 */
function storedCall(called: CallOfModel, toolset: Toolset) {
  const call = callOf(called);
  if (called.invalid !== true) return call;
  const check = validateCall(toolset, call);
  return check.ok ? { ...call, input: check.input } : { ...call, invalid: check.problem };
}

function callOf({ toolCallId, toolName, input }: CallOfModel) {
  return { toolCallId, toolName, input };
}

interface AnswerEnd {
  finishReason: string;
  /** Whether the stream ended without a finish reason. */
  isCut: boolean;
  isEmpty: boolean;
}

function problemWith({ finishReason, isCut, isEmpty }: AnswerEnd): Error | null {
  if (finishReason === 'content-filter' && isEmpty) return new DeclinedAnswerError('The answer was filtered.');
  if (finishReason === 'error') return new UnusableAnswerError('The answer ended with an error.');
  if (isCut) return new UnusableAnswerError('The answer was cut off.');
  if (finishReason === 'length' && isEmpty) return new SpentLimitError('The answer was empty at its limit.');
  return isEmpty && finishReason !== 'stop' ? new UnusableAnswerError('The answer was empty.') : null;
}

/**
 * Returns a hash that is equal for identical requests to a model; `tools` are the tools' names. What only concerns a
 * provider's cache is no part of it.
 */
export function requestHashOf({
  model,
  system,
  messages,
  tools,
}: Pick<ModelQuestion, 'model' | 'system' | 'messages'> & { tools: string[] }): string {
  return createHash('sha256')
    .update(JSON.stringify([model, system, messages, tools]))
    .digest('hex');
}
