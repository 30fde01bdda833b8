import type { AnswerSpendingStore } from '../../db/sites/answer-spending.ts';
import type { PriceBook } from '../../models/prices.ts';
import { mostTokensOf } from '../../models/used-tokens.ts';
import { answersUnpriced, budgetSpent } from '../http/errors.ts';
import type { ReplyUsage } from './reply.ts';

export interface AnswerBudgetDeps {
  spending: AnswerSpendingStore;
  prices: PriceBook;
  /** `provider/model` of the answers. */
  modelName: string;
  /** Model calls an answer may take. */
  maxSteps: number;
  /** What an organization may spend a day, in millionths of a US dollar; null: any amount. */
  budgetMicros: number | null;
}

/** Tells what an answer has used. One that broke off counts with the most it may have cost: nobody knows what it did. */
export type SettleAnswer = (usage: ReplyUsage | null) => Promise<void>;

/** Throws ApiError when the organization's day is spent. */
export type HoldAnswer = (answer: { organizationId: string; characters: number }) => Promise<SettleAnswer>;

/** An answer is shorter than this; what a model adds beyond is counted when it is known. */
const mostOutputTokens = 8_000;

/** Makes the gate in front of each answer: what all that are under way may cost counts as spent. */
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
