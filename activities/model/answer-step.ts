import { Context } from '@temporalio/activity';
import type { JobContextStore } from '../../db/for-worker/job-context.ts';
import type { ClaimedCall } from '../../db/for-worker/step-claims.ts';
import type { StepResponse, StepRow, StepStore } from '../../db/for-worker/steps.ts';
import type { ModelCall, StepRef, StepResult, TokenUsage } from '../../workflows/contract/job.ts';
import { takenOver, type Attempt } from '../attempt.ts';
import type { JobAccess } from '../job/job-access.ts';
import type { ClaimedTools } from '../tools/run-calls.ts';
import type { AskForReview } from '../tools/self-review.ts';
import type { AskStep } from './ask-step.ts';
import type { CallLeases } from './call-lease.ts';
import type { AnsweredStep, StoreAnswer } from './store-answer.ts';
import type { TranscriptReader } from './transcript/read-transcript.ts';

export interface AnswerStepDeps {
  attempt: Attempt;
  leases: CallLeases;
  steps: Pick<StepStore, 'claimAnswer'>;
  transcripts: Pick<TranscriptReader, 'lastKnown'>;
  askStep: AskStep;
  storeAnswer: StoreAnswer;
  context: Pick<JobContextStore, 'compactions'>;
  access: Pick<JobAccess, 'hasMessages'>;
  countFailure(ref: StepRef, error: unknown): Promise<number | 'retry-now'>;
  /** Reports whether an agent that ended with text alone must continue. */
  remindOfFinish(ref: StepRef): Promise<boolean>;
  askForReview: AskForReview;
}

/** A step that an attempt has claimed and whose answer is stored. */
interface ClaimedAnswer {
  result: StepResult;
  claimed: ClaimedTools;
}

/** Gets the model's answer for a step. */
export type AnswerStep = (call: ModelCall) => Promise<ClaimedAnswer>;

/**
 * Creates the first half of a step. Safe to run twice: the answer is stored before it returns, and a stored one is never
 * paid for again.
 */
export function createAnswerStep(deps: AnswerStepDeps): AnswerStep {
  const { attempt, leases, steps, transcripts, askStep, storeAnswer, context, access } = deps;
  const { countFailure, remindOfFinish, askForReview } = deps;
  return async function answerStep(call) {
    const { jobId, turn, step } = call;
    const ref = { jobId, turn, step };
    const scope = { turn: ref, outlivesHeartbeat: true, countFailure: (error: unknown) => countFailure(ref, error) };
    return attempt(scope, async (signal) => {
      const claimed = await claimFree(ref, signal);
      const { fence, response, toolResults, job } = claimed;
      if (response !== null) {
        const result = await resultOf(call, await storedAnswer(claimed, response));
        return { result, claimed: { fence, response, toolResults, job } };
      }
      return leases.during({ ...ref, fence }, async () => {
        const answer = await storeAnswer(call, fence, await askStep(call, claimed, signal), signal);
        const { now, snapshot } = answer.start;
        // the project is read again because it may have changed
        const known = now.projectVersion === job.projectVersion ? { job: { ...job, ...now } } : {};
        return {
          result: await resultOf(call, answer),
          claimed: { fence, response: answer.response, toolResults, ...known, snapshot },
        };
      });
    });
  };

  /** Claims the step as soon as no other attempt's call is in flight, unless Temporal has lost track of this one. */
  async function claimFree(ref: StepRef, signal: AbortSignal): Promise<ClaimedCall> {
    for (;;) {
      if (Context.current().cancellationSignal.aborted) throw takenOver();
      const claimed = await steps.claimAnswer(ref, transcripts.lastKnown(ref.jobId));
      if (claimed !== null) return claimed;
      await leases.untilFree(ref, signal);
    }
  }

  async function storedAnswer({ jobId, finishReason, usage }: StepRow, response: StepResponse): Promise<AnsweredStep> {
    const [compaction = null] = await context.compactions(jobId, 1);
    return { response, finishReason: finishReason ?? 'other', usage, compaction };
  }

  async function resultOf(call: ModelCall, answered: AnsweredStep): Promise<StepResult> {
    const { response, finishReason, compaction } = answered;
    const isForCall = compaction?.turn === call.turn && compaction.step === call.step;
    // usage of notes made for the call counts as its own
    const usage = isForCall ? sumOf(answered.usage, compaction.usage) : answered.usage;
    const toolCallCount = response.toolCalls.length;
    if (toolCallCount > 0) return { toolCallCount, finishReason, usage };
    // a message begins the next turn
    if (call.lastBefore != null) return { toolCallCount, finishReason, usage, isUnfinished: true };
    const hasMessages = await access.hasMessages(call);
    const result = { toolCallCount, finishReason, usage, hasMessages };
    if (hasMessages || finishReason === 'length') return result;
    if (await remindOfFinish(call)) return { ...result, hasMessages: true };
    if (!(await askForReview(call))) return result;
    return { ...result, tools: { finished: false, isReviewing: true, changedFiles: 0 } };
  }
}

function sumOf(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
  };
}
