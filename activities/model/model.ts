import { activityInfo } from '@temporalio/activity';
import type { WorkerEventStore } from '../../db/for-worker/job-events.ts';
import type { Compaction, JobContextStore } from '../../db/for-worker/job-context.ts';
import type { WorkerMessageStore } from '../../db/for-worker/job-messages.ts';
import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { StepAnswerEvents, StepResponse, StepStore } from '../../db/for-worker/steps.ts';
import type { PriceBook } from '../../models/prices.ts';
import type { ModelCall, ModelStep, StepRef, TokenUsage } from '../../workflows/contract/job.ts';
import type { NewJobEvent } from '../../db/jobs/event-types.ts';
import { systemPrompt } from './agent-prompt.ts';
import type { Toolset } from '../tools/agent-tool.ts';
import { allowedTools } from '../tools/toolset.ts';
import type { Asking } from './asking.ts';
import { takenOver, type Attempt } from '../attempt.ts';
import type { JobAccess } from '../job/job-access.ts';
import { eventsOfAnswer } from './job-events.ts';
import type { Conversation, ConversationCall } from './conversation.ts';
import { isContextOverflow } from './model-failures.ts';
import { keepAnswer } from './keep-answer.ts';
import { maskDeep } from '../../lib/redaction/known-secrets.ts';
import { readInstructions } from './instructions.ts';
import { createLiveText, type LivePiece, type LiveText, type SpokenText } from './live-text.ts';
import { createStreamRedactor } from '../../lib/redaction/redact-stream.ts';
import type { AskPaid } from './spending.ts';
import { conversationOf, type Transcript } from './transcript.ts';

export interface ModelActivityDeps {
  steps: Pick<StepStore, 'claimAnswer' | 'storeResponse' | 'countModelFailure'>;
  events: Pick<WorkerEventStore, 'appendText'>;
  messages: Pick<WorkerMessageStore, 'take'>;
  effects: Pick<EffectStore, 'claim'>;
  context: Pick<JobContextStore, 'compactions'>;
  access: JobAccess;
  conversation: Conversation;
  /** Whether an agent that ended with words alone goes on all the same. */
  remindOfFinish(ref: StepRef): Promise<boolean>;
  askPaid: AskPaid;
  asking: Asking;
  attempt: Attempt;
  maskSecrets(text: string): string;
  redact(text: string): string;
  secrets: readonly string[];
  prices: Pick<PriceBook, 'costMicrosOf'>;
  toolset: Toolset;
}

export function createModelActivities(deps: ModelActivityDeps) {
  const { steps, messages, effects, context, access, conversation, askPaid, asking, attempt, maskSecrets } = deps;
  const { redact, secrets, prices, toolset, remindOfFinish } = deps;
  const { finish } = toolset;
  const finishOnly: Toolset = finish === undefined ? {} : { finish };
  return {
    /**
     * Safe to run twice: the answer is stored before the activity completes, and a stored answer is not asked for again. One
     * that an earlier attempt is still asking for is waited for.
     */
    async callModel(call: ModelCall): Promise<ModelStep> {
      const { jobId, turn, step } = call;
      const ref = { jobId, turn, step };
      const scope = { turn: ref, outlivesEngine: true, countFailure: () => steps.countModelFailure(ref) };
      return attempt(scope, async (signal) => {
        if (activityInfo().attempt > 1) await asking.untilNobodyAsks(ref, signal);
        const { fence, response, finishReason, usage } = await steps.claimAnswer(ref);
        if (response === null) return asking.during({ ...ref, fence }, () => answerAnew(call, fence, signal));
        const [compaction = null] = await context.compactions(jobId, 1);
        return stepOf(call, { response, finishReason: finishReason ?? 'other', usage, compaction });
      });
    },
  };

  async function answerAnew(call: ModelCall, fence: number, signal: AbortSignal): Promise<ModelStep> {
    const { jobId, turn, step, lastBefore = null } = call;
    const ref = { jobId, turn, step };
    const job = await access.activeJob(ref);
    if (job.waitingMessages > 0) await messages.take(ref);
    const { text: instructions, folders } = await readInstructions(effects, jobId);
    const system = systemPrompt(instructions);
    const tools = lastBefore === null ? allowedTools(toolset, await access.projectOf(job)) : finishOnly;
    const text = liveTextOf({ ...ref, fence });
    const { answer, transcript } = await speaking(text, () =>
      answerTo({ call, fence, job, system, folders, signal }, { tools, onText: text.push }),
    );
    const masked = maskedResponse(answer.response, maskSecrets);
    const costMicros = prices.costMicrosOf(job.model, answer.details);
    const told = eventsOfAnswer({ ...answer, toolCalls: masked.toolCalls, costMicros }, redact);
    const events = eventsOf(await text.end(), fence, told);
    const { prompts, compaction } = transcript;
    const knownMessages = prompts.filter((prompt) => prompt.turn === turn && prompt.step === step).length;
    const cost = { cachedTokens: answer.details.cachedInputTokens, costMicros };
    const store = () => steps.storeResponse({ ...ref, ...answer, ...cost, response: masked, knownMessages, events });
    if (!(await keepAnswer(store, signal))) throw takenOver();
    return stepOf(call, { ...answer, response: masked, compaction });
  }

  /** A provider that finds the request too long is asked once more, without the older part of the conversation. */
  async function answerTo(asking: ConversationCall, { tools, onText }: Speaking) {
    const { call, fence, job, system, signal } = asking;
    const { jobId, turn, step } = call;
    const ask = async (transcript: Transcript) => {
      const messages = conversationOf(transcript);
      const question = { system, messages, toolset: tools, signal, onText };
      return { answer: await askPaid({ step: { jobId, turn, step, fence }, job, question }), transcript };
    };
    const transcript = await conversation.forCall(asking);
    try {
      return await ask(transcript);
    } catch (error) {
      if (!isContextOverflow(error)) throw error;
      return ask(await conversation.shortened(asking, transcript));
    }
  }

  async function stepOf(
    { lastBefore = null, ...ref }: ModelCall,
    { response, finishReason, usage: ofAnswer, compaction }: AnsweredStep,
  ): Promise<ModelStep> {
    const isForCall = compaction?.turn === ref.turn && compaction.step === ref.step;
    // notes that were made for the call count as its own
    const usage = isForCall ? sumOf(ofAnswer, compaction.usage) : ofAnswer;
    const toolCallCount = response.toolCalls.length;
    if (toolCallCount > 0) return { toolCallCount, finishReason, usage };
    const hasMessages = await access.hasMessages(ref);
    if (lastBefore !== null) return { toolCallCount, finishReason, usage, hasMessages, isUnfinished: !hasMessages };
    const isEnd = !hasMessages && finishReason !== 'length';
    return { toolCallCount, finishReason, usage, hasMessages: hasMessages || (isEnd && (await remindOfFinish(ref))) };
  }

  function liveTextOf(step: StepRef & { fence: number }): LiveText {
    return createLiveText({
      redactor: createStreamRedactor({ redact, secrets }),
      append: (piece) => deps.events.appendText({ ...step, ...piece }),
    });
  }
}

interface Speaking {
  tools: Toolset;
  onText(delta: string): void;
}

interface AnsweredStep {
  response: StepResponse;
  finishReason: string;
  usage: TokenUsage;
  /** The newest one. */
  compaction: Compaction | null;
}

function sumOf(one: TokenUsage, other: TokenUsage): TokenUsage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
}

/** Ends the text also when the call fails. */
async function speaking<Answer>(text: LiveText, ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    await text.end();
    throw error;
  }
}

/** What is stored with the answer: what watchers do not have yet, or all anew when another attempt has begun meanwhile. */
function eventsOf({ rest, whole }: SpokenText, attempt: number, told: NewJobEvent[]): StepAnswerEvents {
  const textOf = (piece: LivePiece): NewJobEvent => ({ type: 'text', data: { attempt, ...piece } });
  const anew: NewJobEvent[] = [{ type: 'step-start', data: { attempt } }, ...whole.map(textOf), ...told];
  return { attempt, ours: rest === null ? anew : [...rest.map(textOf), ...told], overtaken: anew };
}

function maskedResponse(response: StepResponse, mask: (text: string) => string): StepResponse {
  return {
    content: response.content.map((part) => maskDeep(part, mask)),
    text: mask(response.text),
    toolCalls: response.toolCalls.map((call) => ({
      ...call,
      // the same in the content: a result is found by it
      toolCallId: mask(call.toolCallId),
      toolName: mask(call.toolName),
      input: maskDeep(call.input, mask),
    })),
  };
}
