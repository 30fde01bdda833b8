import type { StepStore } from '../../db/for-worker/steps.ts';
import type { ModelCall, ModelStep, StepResult, ToolBatch, ToolStep } from '../../workflows/contract/job.ts';
import type { AnswerStep } from '../model/answer-step.ts';
import type { RunCalls } from '../tools/run-calls.ts';

export interface StepActivityDeps {
  steps: Pick<StepStore, 'claim'>;
  answerStep: AnswerStep;
  runCalls: RunCalls;
}

export function createStepActivities({ steps, answerStep, runCalls }: StepActivityDeps) {
  return {
    /** Calls the model and runs the tools that it requests. A second attempt continues from what the first stored. */
    async runStep(call: ModelCall): Promise<StepResult> {
      const { result, claimed } = await answerStep(call);
      if (result.toolCallCount === 0) return result;
      const { jobId, turn, step, lastBefore, callsLeft } = call;
      return { ...result, tools: await runCalls({ jobId, turn, step, lastBefore, callsLeft }, async () => claimed) };
    },

    /** The first half of a step, for executions that began before `runStep`. */
    async callModel(call: ModelCall): Promise<ModelStep> {
      return (await answerStep(call)).result;
    },

    /** The second half of a step, for executions that began before `runStep`. */
    async runTools(batch: ToolBatch): Promise<ToolStep> {
      return runCalls(batch, () => steps.claim(batch));
    },
  };
}
