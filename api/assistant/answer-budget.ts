import type { AnswerSpendingStore } from '../../db/sites/answer-spending.ts';
import type { PriceBook } from '../../models/prices.ts';
import { mostTokensOf } from '../../models/used-tokens.ts';
import { answersUnpriced, budgetSpent } from '../http/errors.ts';
import type { ReplyUsage } from './reply.ts';

export interface AnswerBudgetDeps {
  spending: AnswerSpendingStore;
  prices: PriceBook;
  /** Model that answers, as `provider/model`. */
  modelName: string;
  /** Maximum number of model calls per answer. */
  maxSteps: number;
  /** Daily budget of an organization, in millionths of a US dollar; null means unlimited. */
  budgetMicros: number | null;
}

/** Settles an answer's cost. Null means that the answer broke off: its usage is unknown, so the maximum is charged. */
export type SettleAnswer = (usage: ReplyUsage | null) => Promise<void>;

/** Reserves the maximum cost of an answer. Throws ApiError when the organization's daily budget is spent. */
export type HoldAnswer = (answer: { organizationId: string; characters: number }) => Promise<SettleAnswer>;

/** Output tokens reserved for an answer. Any excess is charged when the answer is settled. */
const mostOutputTokens = 8_000;

/** Creates the budget check that runs before each answer. The maximum cost of answers in flight counts as spent. */
export function createAnswerBudget(deps: AnswerBudgetDeps): HoldAnswer {
  const { spending, prices, modelName, maxSteps, budgetMicros } = deps;
  const costOf = (inputTokens: number, outputTokens: number) =>
    prices.costMicrosOf(modelName, { inputTokens, outputTokens, cachedInputTokens: 0, cacheWriteTokens: 0 });

  return async function holdAnswer({ organizationId, characters }) {
    const mostMicros = costOf(maxSteps * mostTokensOf(characters), mostOutputTokens);
    if (mostMicros === null && budgetMicros !== null) throw answersUnpriced(modelName);
    if (mostMicros === null || mostMicros === 0) return async () => undefined;
    const day = await spending.hold({ organizationId, mostMicros, budgetMicros });
    if (day === null) throw budgetSpent();
    return async (usage) => {
      const micros = usage === null ? mostMicros : (costOf(usage.promptTokens, usage.completionTokens) ?? mostMicros);
      await spending.add({ organizationId, day, micros: micros - mostMicros });
    };
  };
}
