import { activityInfo } from '@temporalio/activity';
import type { JobContextStore } from '../../db/for-worker/job-context.ts';
import type { StepResponse, StepRow, StepStore } from '../../db/for-worker/steps.ts';
import type { ModelCall, ModelStep, StepRef, TokenUsage } from '../../workflows/contract/job.ts';
import type { Attempt } from '../attempt.ts';
import type { JobAccess } from '../job/job-access.ts';
import type { AskStep } from './ask-step.ts';
import type { CallLeases } from './call-lease.ts';
import type { AnsweredStep, StoreAnswer } from './store-answer.ts';

export interface ModelActivityDeps {
  attempt: Attempt;
  leases: CallLeases;
  steps: Pick<StepStore, 'claimAnswer' | 'countModelFailure'>;
  askStep: AskStep;
  storeAnswer: StoreAnswer;
  context: Pick<JobContextStore, 'compactions'>;
  access: Pick<JobAccess, 'hasMessages'>;
  /** Whether an agent that ended with words alone goes on all the same. */
  remindOfFinish(ref: StepRef): Promise<boolean>;
}

export function createModelActivities(deps: ModelActivityDeps) {
  const { attempt, leases, steps, askStep, storeAnswer, context, access, remindOfFinish } = deps;
  return {
    /** Safe to run twice: the answer is stored before the activity completes, and a stored one is never paid for again. */
    async callModel(call: ModelCall): Promise<ModelStep> {
      const { jobId, turn, step } = call;
      const ref = { jobId, turn, step };
      const scope = { turn: ref, outlivesHeartbeat: true, countFailure: () => steps.countModelFailure(ref) };
      return attempt(scope, async (signal) => {
        if (activityInfo().attempt > 1) await leases.untilFree(ref, signal);
        const claimed = await steps.claimAnswer(ref);
        if (claimed.response !== null) return stepOf(call, await storedAnswer(claimed, claimed.response));
        return leases.during({ ...ref, fence: claimed.fence }, async () => {
          const answer = await askStep(call, claimed.fence, signal);
          return stepOf(call, await storeAnswer(call, claimed.fence, answer, signal));
        });
      });
    },
  };

  async function storedAnswer({ jobId, finishReason, usage }: StepRow, response: StepResponse): Promise<AnsweredStep> {
    const [compaction = null] = await context.compactions(jobId, 1);
    return { response, finishReason: finishReason ?? 'other', usage, compaction };
  }

  async function stepOf({ lastBefore = null, ...ref }: ModelCall, answered: AnsweredStep): Promise<ModelStep> {
    const { response, finishReason, compaction } = answered;
    const isForCall = compaction?.turn === ref.turn && compaction.step === ref.step;
    // notes that were made for the call count as its own
    const usage = isForCall ? sumOf(answered.usage, compaction.usage) : answered.usage;
    const toolCallCount = response.toolCalls.length;
    if (toolCallCount > 0) return { toolCallCount, finishReason, usage };
    const hasMessages = await access.hasMessages(ref);
    if (lastBefore !== null) return { toolCallCount, finishReason, usage, hasMessages, isUnfinished: !hasMessages };
    const isEnd = !hasMessages && finishReason !== 'length';
    return { toolCallCount, finishReason, usage, hasMessages: hasMessages || (isEnd && (await remindOfFinish(ref))) };
  }
}

function sumOf(one: TokenUsage, other: TokenUsage): TokenUsage {
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  };
}
