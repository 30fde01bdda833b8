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
  /** Daily budget of an organization, in millionths of a US dollar; null means unlimited. */
  budgetMicros: number | null;
}

/** Settles the cost of a finished call. An interrupted call keeps counting at its highest possible cost. */
export type SettleCall = (usage: ReplyUsage) => Promise<void>;

/** Reserves the highest possible cost of a model call. Throws ApiError when the organization's daily budget is spent. */
export type HoldCall = (call: { organizationId: string; characters: number }) => Promise<SettleCall>;

export interface AnswerBudget {
  holdCall: HoldCall;
  /** Longest output of a call, in tokens; null when the model decides. */
  maxOutputTokens: number | null;
}

/** No answer from documentation needs more, and a larger share of the window would leave too little for the request. */
const mostOutputTokens = 8_000;
const outputShareOfWindow = 1 / 4;
/** Upper bound for the descriptions of the tools. */
const charactersOfTools = 2_000;

/** Creates the budget check that runs before each call. The highest possible cost of calls in flight counts as spent. */
export function createAnswerBudget({ spending, prices, modelName, budgetMicros }: AnswerBudgetDeps): AnswerBudget {
  const maxOutputTokens = Math.min(mostOutputTokens, Math.floor(prices.windowOf(modelName) * outputShareOfWindow));
  const costOf = ({ promptTokens: inputTokens, completionTokens: outputTokens }: ReplyUsage) =>
    prices.costMicrosOf(modelName, { inputTokens, outputTokens, cachedInputTokens: 0, cacheWriteTokens: 0 });

  return {
    maxOutputTokens: budgetMicros === null ? null : maxOutputTokens,
    async holdCall({ organizationId, characters }) {
      const promptTokens = mostTokensOf(characters + charactersOfTools);
      const mostMicros = costOf({ promptTokens, completionTokens: maxOutputTokens });
      if (mostMicros === null && budgetMicros !== null) throw answersUnpriced(modelName);
      if (mostMicros === null || mostMicros === 0) return async () => undefined;
      const day = await spending.hold({ organizationId, mostMicros, budgetMicros });
      if (day === null) throw budgetSpent();
      return async (usage) => {
        const micros = costOf(usage) ?? mostMicros;
        await spending.add({ organizationId, day, micros: micros - mostMicros });
      };
    },
  };
}
