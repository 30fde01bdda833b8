import { createHash } from 'node:crypto';
import { streamText, tool, zodSchema, type LanguageModelUsage, type ModelMessage, type Tool, type ToolSet } from 'ai';
import { z } from 'zod';
import type { StepResponse } from '../../db/for-worker/steps.ts';
import type { PricedUsage } from '../../models/prices.ts';
import type { ModelRegistry } from '../../models/registry.ts';
import { createJsonScan } from '../../lib/json-scan.ts';
import { beforeRequest } from '../../models/provider-fetch.ts';
import { usedTokens, type ReportedUsage } from '../../models/used-tokens.ts';
import type { TokenUsage } from '../../workflows/contract/job.ts';
import type { AgentTool, Toolset } from '../tools/agent-tool.ts';
import { validateCall } from '../tools/run-batch.ts';
import { DeclinedAnswerError, ModelCallError, UnusableAnswerError } from './model-failures.ts';

export interface ModelQuestion {
  model: string;
  system: string;
  messages: ModelMessage[];
  /** The tools that the model may call: it is told of no others, and a call of another is an error. */
  toolset: Toolset;
  signal: AbortSignal;
  /** Awaited directly before the request is sent; what it throws is thrown unchanged, and nothing is sent. */
  confirm?(): Promise<void>;
  /** Gets the answer's text as the model produces it. */
  onText?(delta: string): void;
}

export interface ModelAnswer {
  requestHash: string;
  response: StepResponse;
  finishReason: string;
  usage: TokenUsage;
  /** The usage as it is priced. */
  details: PricedUsage;
  receivedCharacters: number;
}

export interface AskModelDeps {
  models: ModelRegistry;
  /** A provider that is silent for this long counts as failed. */
  timeoutMs?: number;
}

/** Longer than the answer of any model, in characters: 128,000 tokens. */
const longestAnswer = 600_000;
/** Of the arguments of a call; parsing and checking them takes time by the number of values. */
const argumentLimits = { deepest: 100, mostValues: 5_000 };
/** Calls of one answer that are run. */
const mostCalls = 100;
/** More are no answer to anything. */
const mostCallsSent = 1_000;
const tooManyCalls = `Not run: an answer may have at most ${mostCalls} calls. Continue with the results of the others.`;

/** Makes the one place that calls a job's model: one request, no retries of its own. Errors: ModelCallError, UnknownModelError. */
export function createAskModel({ models, timeoutMs = 9 * 60_000 }: AskModelDeps) {
  return async function askModel(question: ModelQuestion): Promise<ModelAnswer> {
    const { model, system, messages, toolset, signal, confirm, onText } = question;
    const tools = definitionsOf(toolset);
    const languageModel = models.languageModel(model);
    const over = new AbortController();
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
    };
    const ask = () =>
      streamText({
        model: languageModel,
        instructions: system,
        messages,
        tools,
        maxRetries: 0,
        // one that was kept from the last step may be dead without anybody's knowing: what is sent on it hangs for minutes
        headers: { connection: 'close' },
        abortSignal: AbortSignal.any([signal, over.signal, AbortSignal.timeout(timeoutMs)]),
        onError: () => undefined, // it is told by the error part below
      });
    try {
      const result = beforeRequest.run(mayAsk, ask);
      // read beside the stream: each promise of the result that is asked for behind it reads all of it again, in one go
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
        if (streamed > longestAnswer || called > mostCallsSent) throw tooLong();
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
      if (receivedCharacters > longestAnswer) throw tooLong();
      const length = { sentCharacters: lengthOf(question), receivedCharacters };
      const details = usedTokens(reportedUsage(usage), length);
      return {
        requestHash: requestHashOf({ model, system, messages, tools: Object.keys(tools) }),
        response: {
          content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
          text,
          toolCalls: toolCalls.map((call, position) =>
            position < mostCalls ? storedCall(call, toolset) : { ...callOf(call), invalid: tooManyCalls },
          ),
        },
        finishReason,
        usage: { inputTokens: details.inputTokens, outputTokens: details.outputTokens },
        details,
        receivedCharacters,
      };
    } catch (error) {
      if (refusal !== null) throw refusal;
      throw new ModelCallError('The model call failed.', { cause: error, receivedCharacters: streamed });
    } finally {
      over.abort(); // a stream that is left goes on otherwise
    }
  };
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

/** How many characters of a request the model reads. */
export function lengthOf({
  system,
  messages,
  toolset,
}: Pick<ModelQuestion, 'system' | 'messages' | 'toolset'>): number {
  const tools = Object.entries(toolset).map(([name, agentTool]) => name.length + lengthOfTool(agentTool));
  return system.length + JSON.stringify(messages).length + tools.reduce((sum, length) => sum + length, 0);
}

const toolLengths = new WeakMap<AgentTool, number>();

function lengthOfTool(agentTool: AgentTool): number {
  const { description, inputSchema } = agentTool;
  const length =
    toolLengths.get(agentTool) ??
    description.length + JSON.stringify(z.toJSONSchema(inputSchema, { io: 'input' })).length;
  toolLengths.set(agentTool, length);
  return length;
}

/** The library makes the JSON schema of a tool once for each definition; a tool keeps the one it has. */
const definitions = new WeakMap<AgentTool, Tool>();

function definitionOf(agentTool: AgentTool): Tool {
  const known = definitions.get(agentTool);
  if (known !== undefined) return known;
  const { description, inputSchema } = agentTool;
  const definition = tool({ description, inputSchema: zodSchema(inputSchema) });
  definitions.set(agentTool, definition);
  return definition;
}

function definitionsOf(toolset: Toolset): ToolSet {
  return Object.fromEntries(Object.entries(toolset).map(([name, agentTool]) => [name, definitionOf(agentTool)]));
}

interface CallOfModel {
  toolCallId: string;
  toolName: string;
  input: unknown;
  invalid?: boolean;
}

/** A call that does not fit is stored with the sentence the model gets back, so that it can repair it. */
function storedCall(called: CallOfModel, toolset: Toolset) {
  const call = callOf(called);
  if (called.invalid !== true) return call;
  const check = validateCall(toolset, call);
  return { ...call, invalid: check.ok ? 'The arguments of the call are not valid JSON.' : check.problem };
}

function callOf({ toolCallId, toolName, input }: CallOfModel) {
  return { toolCallId, toolName, input };
}

interface AnswerEnd {
  finishReason: string;
  /** The stream ended without a word of why. */
  isCut: boolean;
  isEmpty: boolean;
}

function problemWith({ finishReason, isCut, isEmpty }: AnswerEnd): Error | null {
  if (finishReason === 'content-filter' && isEmpty) return new DeclinedAnswerError('The answer was filtered.');
  if (finishReason === 'error') return new UnusableAnswerError('The answer ended with an error.');
  if (isCut) return new UnusableAnswerError('The answer was cut off.');
  return isEmpty && finishReason !== 'stop' ? new UnusableAnswerError('The answer was empty.') : null;
}

/** Equal for calls that ask a model the same; `tools` are their names. */
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
