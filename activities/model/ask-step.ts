import type { WorkerEventStore } from '../../db/for-worker/job-events.ts';
import type { WorkerMessageStore } from '../../db/for-worker/job-messages.ts';
import type { WorkerImageStore } from '../../db/for-worker/job-images.ts';
import type { JobContext } from '../../db/for-worker/job-context.ts';
import type { ClaimedCall } from '../../db/for-worker/step-claims.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';
import { createStreamRedactor } from '../../lib/redaction/redact-stream.ts';
import type { ModelCall } from '../../workflows/contract/job.ts';
import type { JobAccess } from '../job/job-access.ts';
import type { Toolset } from '../tools/agent-tool.ts';
import { offeredTools } from '../tools/toolset.ts';
import { systemPrompt } from './agent-prompt.ts';
import type { ModelAnswer, ModelQuestion } from './ask-model.ts';
import type { Conversation, ConversationCall } from './transcript/conversation.ts';
import { createLiveText, type StreamedText } from './live-text.ts';
import { modelToAsk } from './fallback.ts';
import { isContextOverflow, isRejectedContent } from './model-failures.ts';
import { imagesIn, type ReadImages } from './images.ts';
import type { AskPaid } from './spending.ts';
import type { Instructions } from './stored-instructions.ts';
import type { JobTranscript } from './transcript/read-transcript.ts';
import { conversationOf, type Transcript } from './transcript/transcript.ts';

export interface AskStepDeps {
  access: Pick<JobAccess, 'activeJob'>;
  messages: Pick<WorkerMessageStore, 'take'>;
  events: Pick<WorkerEventStore, 'appendText'>;
  conversation: Conversation;
  images: Pick<WorkerImageStore, 'read'>;
  askPaid: AskPaid;
  toolset: Toolset;
  /** Returns the pinned tools of MCP servers. */
  mcpToolset(pinned: Instructions['tools']): Toolset;
  secrets: KnownSecrets;
}

export interface StepAnswer {
  /** As `provider/model`; a fallback may have answered. */
  model: string;
  answer: ModelAnswer;
  /** The conversation that was sent; a compaction may have shortened it. */
  transcript: Transcript;
  /** Null when the text was too long to stream. */
  text: StreamedText | null;
}

/** Sends a claimed step to the job's model, or to a fallback while that is down. */
export type AskStep = (call: ModelCall, claimed: ClaimedCall, signal: AbortSignal) => Promise<StepAnswer>;

export function createAskStep(deps: AskStepDeps): AskStep {
  const { access, messages, events, conversation, images, askPaid, toolset, mcpToolset, secrets } = deps;

  return async function askStep(call, { fence, job: read, context }, signal) {
    const { jobId, turn, step, lastBefore = null } = call;
    const ref = { jobId, turn, step };
    const active = await access.activeJob(ref, read);
    const job = { ...active, model: modelToAsk(active) };
    // a call that can only finish leaves messages to the next turn
    const hasNew = job.waitingMessages > 0 && lastBefore === null;
    if (hasNew) await messages.take(ref);
    const text = createLiveText({
      redactor: createStreamRedactor(secrets.here()),
      append: (chunk) => events.appendText({ ...ref, fence, ...chunk }),
    });
    try {
      // no later call has only one tool
      const cacheKey = lastBefore === null ? jobId : undefined;
      const at = { call, fence, job, signal };
      const result = await ask(at, hasNew ? null : context, { cacheKey, onText: text.push });
      return { model: job.model, ...result, text: await text.end() };
    } catch (error) {
      await text.end();
      throw error;
    }
  };

  /**
   * If the provider rejects the request as too long, asks once more without the older part of the conversation; if it may have
   * rejected an image, without images.
   */
  async function ask(
    at: ConversationCall,
    context: JobContext | null,
    options: Pick<ModelQuestion, 'cacheKey' | 'onText'>,
  ) {
    const { call, fence, job, signal } = at;
    const { jobId, turn, step, lastBefore = null } = call;
    const readImages: ReadImages = (hashes) => images.read(jobId, hashes);
    const send = async (transcript: JobTranscript, unseen?: string) => {
      const { instructions } = transcript;
      const system = systemPrompt(instructions);
      // those of servers are last, so that all before them is the same in most jobs
      const offered = offeredTools({ ...toolset, ...mcpToolset(instructions.tools) }, job, instructions);
      const tools = lastBefore === null ? offered : finishOnly(offered);
      const question = {
        system,
        messages: conversationOf(transcript, job),
        toolset: tools,
        signal,
        readImages,
        unseen,
        ...options,
      };
      return { answer: await askPaid({ step: { jobId, turn, step, fence }, job, question }), transcript };
    };
    const transcript = await conversation.forCall(at, context);
    try {
      return await send(transcript);
    } catch (error) {
      if (isContextOverflow(error)) return send(await conversation.shortened(at, transcript));
      const hasImages = conversationOf(transcript).some((message) => imagesIn(message) > 0);
      if (!hasImages || !isRejectedContent(error)) throw error;
      return send(transcript, "is not shown, because the model's provider refused the request with it");
    }
  }
}

function finishOnly({ finish }: Toolset): Toolset {
  return finish === undefined ? {} : { finish };
}
