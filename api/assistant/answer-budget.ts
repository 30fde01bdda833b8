import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { AnswerSpendingStore } from '../../db/sites/answer-spending.ts';
import type { SiteRow } from '../../db/sites/sites.ts';
import { createOfflineExtract, extractName } from '../../models/offline-extract/offline-extract.ts';
import type { PriceBook, PricedUsage } from '../../models/prices.ts';
import { maxTokensOf, noTokens } from '../../models/used-tokens.ts';
import { answersUnpriced, budgetSpent } from '../http/errors.ts';

export interface AnswerBudgetDeps {
  spending: AnswerSpendingStore;
  prices: PriceBook;
  model: LanguageModelV4;
  /** Name of the model, as `provider/model`. */
  modelName: string;
  /** Daily budget of an organization, in millionths of a US dollar; null means unlimited. */
  budgetMicros: number | null;
  /** Longest output of a call, in tokens. */
  outputTokenLimit?: number;
}

/** A model call whose highest possible cost is reserved. */
export interface ReservedCall {
  model: LanguageModelV4;
  modelName: string;
  /** Whether the extractive model answers because the call would exceed the site's daily budget even if nothing were spent. */
  exceedsBudget: boolean;
  /** Longest output of the call, in tokens; null when the model decides. */
  maxOutputTokens: number | null;
  /** Its highest possible cost, in millionths of a US dollar, which counts as spent until the call is settled. */
  maxMicros: number;
  /** Settles the cost of the call, once it has ended or if it is not sent, and returns it. */
  settle(usage: PricedUsage): Promise<number>;
}

/**
 * Reserves the highest possible cost of a model call. When it does not fit the site's daily budget, the call goes to
 * the extractive model. Throws ApiError when the organization's daily budget is spent.
 */
export type ReserveCall = (call: { site: SiteRow; characters: number }) => Promise<ReservedCall>;

/** No answer from documentation needs more, and a larger share of the window would leave too little for the request. */
const maxAnswerTokens = 8_000;
const outputShareOfWindow = 1 / 4;
/** Upper bound for the descriptions of the tools. */
const charactersOfTools = 2_000;

const budgetNotice =
  'Until 00:00 UTC, answers quote the documentation: the budget of this site for written answers is spent.\n\n';

/** Creates the budget check that runs before each call. The highest possible cost of calls in flight counts as spent. */
export function createAnswerBudget({
  spending,
  prices,
  model,
  modelName,
  budgetMicros,
  outputTokenLimit = maxAnswerTokens,
}: AnswerBudgetDeps): ReserveCall {
  const maxOutputTokens = Math.min(outputTokenLimit, Math.floor(prices.windowOf(modelName) * outputShareOfWindow));
  const costOf = (usage: PricedUsage) => prices.costMicrosOf(modelName, usage);
  const free = { exceedsBudget: false, maxMicros: 0, settle: async () => 0 };
  const extract: ReservedCall = {
    model: createOfflineExtract({ lead: budgetNotice }),
    modelName: extractName,
    maxOutputTokens: null,
    ...free,
  };

  return async function reserveCall({ site, characters }) {
    const { answerBudgetMicros: siteMicros } = site;
    const isLimited = siteMicros !== null || budgetMicros !== null;
    const sent = { ...noTokens, inputTokens: maxTokensOf(characters + charactersOfTools) };
    const maxMicros = costOf({ ...sent, outputTokens: maxOutputTokens });
    if (maxMicros === null && isLimited) throw answersUnpriced(modelName);
    const call = { model, modelName, maxOutputTokens: isLimited ? maxOutputTokens : null, ...free };
    if (maxMicros === null || maxMicros === 0) return call;
    if (siteMicros !== null && maxMicros > siteMicros) return { ...extract, exceedsBudget: true };
    const lostMicros = costOf(sent) ?? maxMicros;
    const reservation = await spending.reserve(site, {
      maxMicros,
      lostMicros,
      siteMicros,
      organizationMicros: budgetMicros,
    });
    if ('spent' in reservation) {
      if (reservation.spent === 'site') return extract;
      throw budgetSpent(reservation.retryAfterSeconds);
    }
    return {
      ...call,
      maxMicros,
      async settle(usage) {
        const micros = costOf(usage) ?? maxMicros;
        await spending.settle(site, reservation, micros);
        return micros;
      },
    };
  };
}
