import { modelDownMinutes, type ModelFailureStore } from '../../db/for-worker/model-failures.ts';
import type { StepRef } from '../../workflows/contract/job.ts';
import type { JobWithProject } from '../job/granted-access.ts';
import type { JobAccess } from '../job/job-access.ts';
import { outageOf, type ModelOutage } from './model-failures.ts';

export interface FallbackDeps {
  modelFailures: ModelFailureStore;
  access: Pick<JobAccess, 'activeJob'>;
}

/** Failed calls of a step after which a fallback is used. Its cache is cold, so one failure is not enough. */
const failuresBeforeNext = 3;

/** Returns the model to call: the first that is not skipped, else the one that was skipped earliest. */
export function modelToAsk({
  model,
  models,
  downModels,
}: Pick<JobWithProject, 'model' | 'models' | 'downModels'>): string {
  return models.find((one) => !downModels.includes(one)) ?? downModels.find((one) => models.includes(one)) ?? model;
}

/**
 * Creates the function that counts a failure of a step's call. When the model counts as down and the job has another, the
 * next attempt asks that one, whichever worker runs it: the decision is stored with the job.
 */
export function createFallback({ modelFailures, access }: FallbackDeps) {
  return async function countFailure(ref: StepRef, error: unknown): Promise<number | 'retry-now'> {
    const outage = outageOf(error);
    const failures = await modelFailures.count(ref, outage?.model ?? null);
    if (outage === null || (failures < failuresBeforeNext && !outage.isCertain)) return failures;
    const job = await access.activeJob(ref);
    const downModels = [...job.downModels.filter((one) => one !== outage.model), outage.model];
    const isLast = job.models.every((one) => downModels.includes(one));
    // the last one has the usual retries; instead of one that is gone, another is tried once more
    if (isLast && (!outage.isGone || failures > 1 || job.models.length === 1)) return failures;
    await modelFailures.leaveOut(ref, outage.model, noticeOf(outage, modelToAsk({ ...job, downModels })));
    return 'retry-now';
  };
}

function noticeOf({ model, isGone }: ModelOutage, next: string): string {
  const problem = isGone ? 'is not available' : 'does not answer';
  return `The model ${model} ${problem}; ${next} is used instead for ${modelDownMinutes} minutes.`;
}
