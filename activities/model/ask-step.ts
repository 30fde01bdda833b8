import type { EffectStore } from '../../db/for-worker/effects.ts';
import type { WorkerEventStore } from '../../db/for-worker/job-events.ts';
import type { WorkerMessageStore } from '../../db/for-worker/job-messages.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';
import { createStreamRedactor } from '../../lib/redaction/redact-stream.ts';
import type { ModelCall } from '../../workflows/contract/job.ts';
import type { JobAccess } from '../job/job-access.ts';
import type { Toolset } from '../tools/agent-tool.ts';
import { allowedTools } from '../tools/toolset.ts';
import { systemPrompt } from './agent-prompt.ts';
import type { ModelAnswer, ModelQuestion } from './ask-model.ts';
import type { Conversation, ConversationCall } from './conversation.ts';
import { readInstructions } from './instructions.ts';
import { createLiveText, type SpokenText } from './live-text.ts';
import { isContextOverflow } from './model-failures.ts';
import type { AskPaid } from './spending.ts';
import { conversationOf, type Transcript } from './transcript.ts';

export interface AskStepDeps {
  access: JobAccess;
  messages: Pick<WorkerMessageStore, 'take'>;
  effects: Pick<EffectStore, 'claim'>;
  events: Pick<WorkerEventStore, 'appendText'>;
  conversation: Conversation;
  askPaid: AskPaid;
  toolset: Toolset;
  secrets: KnownSecrets;
}

export interface StepAnswer {
  /** The model that was asked. */
  model: string;
  answer: ModelAnswer;
  /** What it was asked with. */
  transcript: Transcript;
  /** Null: too long to have been followed. */
  text: SpokenText | null;
}

/** Asks the model for a claimed step. */
export type AskStep = (call: ModelCall, fence: number, signal: AbortSignal) => Promise<StepAnswer>;

export function createAskStep(deps: AskStepDeps): AskStep {
  const { access, messages, effects, events, conversation, askPaid, toolset, secrets } = deps;
  const { finish } = toolset;
  const finishOnly: Toolset = finish === undefined ? {} : { finish };

  return async function askStep(call, fence, signal) {
    const { jobId, turn, step, lastBefore = null } = call;
    const ref = { jobId, turn, step };
    const job = await access.activeJob(ref);
    if (job.waitingMessages > 0) await messages.take(ref);
    const { text: instructions, folders } = await readInstructions(effects, jobId);
    const system = systemPrompt(instructions);
    const tools = lastBefore === null ? allowedTools(toolset, await access.projectOf(job)) : finishOnly;
    const text = createLiveText({
      redactor: createStreamRedactor({ redact: secrets.redact, secrets: secrets.values }),
      append: (piece) => events.appendText({ ...ref, fence, ...piece }),
    });
    try {
      const asked = await ask({ call, fence, job, system, folders, signal }, { toolset: tools, onText: text.push });
      return { model: job.model, ...asked, text: await text.end() };
    } catch (error) {
      await text.end();
      throw error;
    }
  };

  /** A provider that finds the request too long is asked once more, without the older part of the conversation. */
  async function ask(at: ConversationCall, options: Pick<ModelQuestion, 'toolset' | 'onText'>) {
    const { call, fence, job, system, signal } = at;
    const { jobId, turn, step } = call;
    const send = async (transcript: Transcript) => {
      const question = { system, messages: conversationOf(transcript), signal, ...options };
      return { answer: await askPaid({ step: { jobId, turn, step, fence }, job, question }), transcript };
    };
    const transcript = await conversation.forCall(at);
    try {
      return await send(transcript);
    } catch (error) {
      if (!isContextOverflow(error)) throw error;
      return send(await conversation.shortened(at, transcript));
    }
  }
}
