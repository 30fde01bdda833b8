import { setTimeout as delay } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/activity';
import type { Budgets, CallLimit, Refusal } from '../../db/for-worker/budgets.ts';
import type { PriceBook, PricedUsage } from '../../models/prices.ts';
import { likelyTokens, lostTokens, maxTokensOf } from '../../models/used-tokens.ts';
import type { ModelCallLeases } from '../../db/for-worker/model-call-leases.ts';
import type { StepRef } from '../../workflows/contract/job.ts';
import { FailureType } from '../../workflows/contract/failures.ts';
import { takenOver } from '../attempt.ts';
import type { JobWithProject } from '../job/granted-access.ts';
import { dollarsOf } from '../publish/stopped-message.ts';
import { lengthOf, type ModelAnswer, type ModelQuestion } from './ask-model.ts';
import { ModelCallError } from './model-failures.ts';

export interface SpendingDeps {
  leases: Pick<ModelCallLeases, 'begin' | 'lose'>;
  askModel(question: ModelQuestion): Promise<ModelAnswer>;
  prices: PriceBook;
  /** The operator's budgets; a project's own are never higher. */
  budgetCeilings: Budgets;
  waitMs?: number;
}

/** The step that an attempt holds. */
export type ClaimedStep = StepRef & { fence: number };

type ModelChoice = 'model' | 'models' | 'reasoningEffort' | 'maxOutputTokens';

export interface PaidCall {
  step: ClaimedStep;
  job: Pick<JobWithProject, 'projectId' | 'project' | ModelChoice>;
  question: Omit<ModelQuestion, 'confirm' | ModelChoice>;
}

/** Asks a job's model once the budget allows it. Also throws the failure that ends a turn whose budget is spent. */
export type AskPaid = (call: PaidCall) => Promise<ModelAnswer>;

/** Longest answer of any hosted model, in tokens. */
const outputTokenLimit = 128_000;
const blind = 'is not shown, because this model cannot see images';
/** After this time Temporal handles the wait by retrying. */
const maxWaitMs = 5 * 60_000;

/**
 * Creates the only way to a paid call. A call is admitted while budget is left, so a limit is exceeded by at most one
 * call. The possible cost of calls in flight counts as spent, so the limit holds across all workers. A call without an
 * answer is charged for what was sent and received.
 */
export function createSpending(deps: SpendingDeps): AskPaid {
  const { leases, askModel, prices, budgetCeilings, waitMs = 500 } = deps;

  return async function askPaid({ step, job, question }) {
    const { model, reasoningEffort, maxOutputTokens } = job;
    const characters = lengthOf(question);
    const limit = limitOf(job, characters);
    const costOf = (usage: PricedUsage) => prices.costMicrosOf(model, usage) ?? 0;
    const lengthWith = (receivedCharacters: number) => ({ sentCharacters: characters, receivedCharacters });
    const begun = { ...step, micros: costOf(likelyTokens(lengthWith(0))), limit };
    const confirm = async () => {
      const deadline = Date.now() + maxWaitMs;
      for (let pauseMs = waitMs; ; pauseMs = Math.min(2 * pauseMs, 10 * waitMs)) {
        const start = await leases.begin(begun);
        if (start.kind === 'begun') return;
        // an attempt that was cut off from Temporal, or frozen, would pay for a call that another attempt makes
        if (start.kind === 'superseded') throw takenOver();
        if (start.kind === 'spent') throw spent(start);
        if (Date.now() > deadline) throw busy();
        await delay(pauseMs, undefined, { signal: question.signal });
      }
    };
    try {
      const unseen = question.unseen ?? (prices.seesImages(model) ? undefined : blind);
      return await askModel({ ...question, model, reasoningEffort, maxOutputTokens, unseen, confirm });
    } catch (error) {
      // if the database is unreachable, the next attempt charges the call
      if (error instanceof ModelCallError)
        await leases
          .lose({ ...step, micros: costOf(lostTokens(error.cause, lengthWith(error.receivedCharacters))) })
          .catch(() => undefined);
      throw error;
    }
  };

  function limitOf(job: PaidCall['job'], characters: number): CallLimit | null {
    const budgets = {
      ...budgetCeilings,
      jobMicros: lowerOf(job.project.jobBudgetMicros, budgetCeilings.jobMicros),
      dayMicros: lowerOf(job.project.dailyBudgetMicros, budgetCeilings.dayMicros),
    };
    if (Object.values(budgets).every((micros) => micros === null)) return null;
    // whichever model answers
    const maxMicros = Math.max(...job.models.map((model) => maxCostOf({ ...job, model }, characters)));
    return maxMicros === 0 ? null : { projectId: job.projectId, budgets, maxMicros };
  }

  /** Throws the failure that ends a turn when the model has no price. */
  function maxCostOf(job: PaidCall['job'], characters: number): number {
    const { model } = job;
    const inputTokens = maxTokensOf(characters);
    const outputTokens = Math.min(outputLimitOf(job), prices.windowOf(model));
    const usage = { inputTokens, cachedInputTokens: 0, cacheWriteTokens: inputTokens, outputTokens };
    const micros = prices.costMicrosOf(model, usage);
    if (micros === null) throw unpriced(model);
    return micros;
  }
}

/** Returns the most tokens of an answer. Anthropic's models with a thinking budget think beyond the limit that they are sent. */
function outputLimitOf({ model, reasoningEffort, maxOutputTokens }: PaidCall['job']): number {
  const isExact = reasoningEffort === null || !model.startsWith('anthropic/');
  return isExact && maxOutputTokens !== null ? maxOutputTokens : outputTokenLimit;
}

/** Returns the lower of two limits, of which either may be missing. */
function lowerOf(own: number | null, ceiling: number | null): number | null {
  if (own === null || ceiling === null) return own ?? ceiling;
  return Math.min(own, ceiling);
}

function spent({ scope, spentMicros, budgetMicros }: Extract<Refusal, { kind: 'spent' }>): ApplicationFailure {
  const [used, limit] = [dollarsOf(spentMicros), dollarsOf(budgetMicros)];
  const messages = {
    job: `The agent was stopped at its budget of ${limit} (the project's budget per turn, or DOCKET_MAX_JOB_DOLLARS); it used ${used}.`,
    day: `The agent was stopped because the project has spent ${used} of its ${limit} today (UTC; its budget per day, or DOCKET_MAX_PROJECT_DOLLARS_PER_DAY). Its jobs continue after 00:00 UTC, or when the budget is raised.`,
    organization: `The agent was stopped because the organization has spent ${used} of its ${limit} today (UTC; DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY covers jobs and answers). Its jobs continue after 00:00 UTC, or when the budget is raised.`,
  };
  return ApplicationFailure.nonRetryable(messages[scope], FailureType.BudgetLimit);
}

function unpriced(model: string): ApplicationFailure {
  const message = `The cost of the model ${model} cannot be limited because its price is unknown. Add it to DOCKET_MODEL_PRICES, or remove the budget.`;
  return ApplicationFailure.nonRetryable(message, FailureType.BudgetLimit);
}

function busy(): ApplicationFailure {
  const message = "Model calls of other jobs may use up today's budget of the project; this call waits for them.";
  return ApplicationFailure.retryable(message, FailureType.BudgetLimit);
}
