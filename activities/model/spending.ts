import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/activity';
import type { Admission, Budgets, BudgetStore } from '../../db/for-worker/budgets.ts';
import type { JobRow } from '../../db/jobs/jobs.ts';
import type { PriceBook } from '../../models/prices.ts';
import { mostTokensOf } from '../../models/used-tokens.ts';
import type { StepRef } from '../../workflows/contract/job.ts';
import { FailureType } from '../../workflows/contract/failures.ts';
import { dollarsOf } from '../publish/stopped-message.ts';

export interface SpendingDeps {
  budgets: BudgetStore;
  prices: PriceBook;
  /** The operator's: what a project says of itself is never more. */
  budgetCeilings: Budgets;
  waitMs?: number;
}

export interface PaidCall {
  ref: StepRef;
  job: Pick<JobRow, 'projectId' | 'model'>;
  /** How long the request is. */
  characters: number;
  signal: AbortSignal;
}

/** Waits until the call may be made. Throws what ends a turn whose money is spent. */
export type HoldCost = (call: PaidCall) => Promise<void>;

/** More than any of the hosted models answers with at once. */
const mostOutputTokens = 128_000;
/** Then the engine looks after the wait. */
const patienceMs = 5 * 60_000;

/**
 * Makes the gate in front of each paid call. A call is let through while money is left, so a limit is passed by one call at
 * most; what calls under way may cost counts as spent, so that this holds for all workers together.
 */
export function createSpending({ budgets, prices, budgetCeilings, waitMs = 500 }: SpendingDeps): HoldCost {
  return async function holdCost({ ref, job, characters, signal }) {
    const limits = await budgets.budgetsOf(job.projectId, budgetCeilings);
    if (Object.values(limits).every((micros) => micros === null)) return;
    const mostMicros = mostCostOf(job.model, characters);
    if (mostMicros === null) throw unpriced(job.model);
    if (mostMicros === 0) return;
    const call = { ...ref, projectId: job.projectId, budgets: limits, mostMicros };
    const deadline = Date.now() + patienceMs;
    for (;;) {
      const admission = await budgets.admit(call);
      if (admission.kind === 'held') return;
      if (admission.kind === 'spent') throw spent(admission);
      if (Date.now() > deadline) throw busy();
      await delay(waitMs, undefined, { signal });
    }
  };

  function mostCostOf(model: string, characters: number): number | null {
    const inputTokens = mostTokensOf(characters);
    const outputTokens = Math.min(mostOutputTokens, prices.windowOf(model));
    return prices.costMicrosOf(model, {
      inputTokens,
      cachedInputTokens: 0,
      cacheWriteTokens: inputTokens,
      outputTokens,
    });
  }
}

function spent({ scope, spentMicros, budgetMicros }: Extract<Admission, { kind: 'spent' }>): ApplicationFailure {
  const [used, limit] = [dollarsOf(spentMicros), dollarsOf(budgetMicros)];
  const messages = {
    job: `The agent was stopped at its limit of ${limit} (the job budget of the project, or DOCKET_MAX_JOB_DOLLARS); it used ${used}.`,
    day: `The agent was stopped because the project has spent ${used} today (UTC) of the ${limit} that it may a day (its daily budget, or DOCKET_MAX_PROJECT_DOLLARS_PER_DAY): none of its jobs goes on before 00:00 UTC, unless it may spend more.`,
    organization: `The agent was stopped because the organization has spent ${used} today (UTC) of the ${limit} that its jobs and answers may cost a day (DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY): none of its jobs goes on before 00:00 UTC, unless it may spend more.`,
  };
  return ApplicationFailure.nonRetryable(messages[scope], FailureType.BudgetLimit);
}

function unpriced(model: string): ApplicationFailure {
  const message = `The cost of the model ${model} cannot be limited because its price is not known; name it in DOCKET_MODEL_PRICES, or lift the limit on money.`;
  return ApplicationFailure.nonRetryable(message, FailureType.BudgetLimit);
}

function busy(): ApplicationFailure {
  const message = 'Calls of other jobs may use up what the project may spend today; this one waits for them.';
  return ApplicationFailure.retryable(message, FailureType.BudgetLimit);
}
