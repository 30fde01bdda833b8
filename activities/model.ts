import type { JobStore } from '../db/jobs.ts';
import type { EffectStore, StepResponse, StepStore } from '../db/steps.ts';
import type { ModelStep, StepRef, TokenUsage } from '../workflows/contract/job.ts';
import { systemPrompt } from './agent-prompt.ts';
import type { ModelAnswer, ModelQuestion } from './ask-model.ts';
import { takenOver, type Attempt } from './attempt.ts';
import type { JobAccess } from './job-access.ts';
import { keepAnswer } from './keep-answer.ts';
import { maskDeep } from './known-secrets.ts';
import { readInstructions } from './instructions.ts';
import { conversationOf } from './transcript.ts';

export interface ModelActivityDeps {
  jobs: Pick<JobStore, 'prompts' | 'countSteps'>;
  steps: Pick<StepStore, 'claim' | 'list' | 'storeResponse' | 'countModelFailure'>;
  effects: Pick<EffectStore, 'claim'>;
  access: JobAccess;
  askModel(question: ModelQuestion): Promise<ModelAnswer>;
  attempt: Attempt;
  maskSecrets(text: string): string;
}

export function createModelActivities(deps: ModelActivityDeps) {
  const { jobs, steps, effects, access, askModel, attempt, maskSecrets } = deps;
  return {
    /**
     * Safe to run twice: the answer is stored before the activity completes, and a stored answer is not asked for again.
     */
    async callModel(ref: StepRef): Promise<ModelStep> {
      return attempt({ countFailure: () => steps.countModelFailure(ref) }, async (signal) => {
        const { response, finishReason, usage } = await steps.claim(ref);
        if (response !== null) {
          await jobs.countSteps(ref); // the attempt that stored it may have ended before it counted
          return summaryOf(response, finishReason ?? 'other', usage);
        }
        const job = await access.activeJob(ref);
        const [prompts, ledger] = [await jobs.prompts(ref.jobId, ref.turn), await steps.list(ref.jobId, ref.turn)];
        const answer = await askModel({
          model: job.model,
          system: systemPrompt(await readInstructions(effects, ref.jobId)),
          messages: conversationOf({ prompts, steps: ledger }),
          signal,
        });
        const masked = maskedResponse(answer.response, maskSecrets);
        const store = () => steps.storeResponse({ ...ref, ...answer, response: masked });
        if (!(await keepAnswer(store, signal))) throw takenOver();
        await jobs.countSteps(ref);
        return summaryOf(masked, answer.finishReason, answer.usage);
      });
    },
  };
}

function summaryOf(response: StepResponse, finishReason: string, usage: TokenUsage): ModelStep {
  return { toolCallCount: response.toolCalls.length, finishReason, usage };
}

function maskedResponse(response: StepResponse, mask: (text: string) => string): StepResponse {
  return {
    content: response.content.map((part) => maskDeep(part, mask)),
    text: mask(response.text),
    toolCalls: response.toolCalls.map((call) => ({ ...call, input: maskDeep(call.input, mask) })),
  };
}
