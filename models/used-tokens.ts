import type { PricedUsage } from './prices.ts';

/** Token usage of a call, as the provider reports it. */
export type ReportedUsage = { [Kind in keyof PricedUsage]?: number | undefined };

/** Amount of text that a call sent and received. */
export interface CallLength {
  sentCharacters: number;
  receivedCharacters: number;
}

/** No model has a larger context window. */
const mostTokens = 10_000_000;

/** Estimates the tokens of a text; providers count with their own tokenizers. */
export function likelyTokensOf(characters: number): number {
  return Math.ceil(characters / 3.5);
}

/** Returns an upper bound of the tokens of a text: two characters each. Only rare scripts need more. */
export function mostTokensOf(characters: number): number {
  return Math.ceil(characters / 2);
}

/**
 * Returns the usage that a call is charged for. Plausible counts of the provider are used as they are. Missing or
 * impossible ones are replaced by the upper bound for the text, so that no provider works for free or refunds a budget.
 */
export function usedTokens(reported: ReportedUsage, { sentCharacters, receivedCharacters }: CallLength): PricedUsage {
  const inputTokens = plausibleOrMost(reported.inputTokens, sentCharacters);
  const cachedInputTokens = partOf(reported.cachedInputTokens, inputTokens);
  return {
    inputTokens,
    cachedInputTokens,
    cacheWriteTokens: partOf(reported.cacheWriteTokens, inputTokens - cachedInputTokens),
    outputTokens: plausibleOrMost(reported.outputTokens, receivedCharacters),
  };
}

function plausibleOrMost(tokens: number | undefined, characters: number): number {
  const least = characters > 0 ? 1 : 0;
  return isCount(tokens) && tokens >= least ? tokens : Math.min(mostTokensOf(characters), mostTokens);
}

function partOf(tokens: number | undefined, whole: number): number {
  return isCount(tokens) && tokens <= whole ? tokens : 0;
}

function isCount(tokens: number | undefined): tokens is number {
  return Number.isInteger(tokens) && tokens !== undefined && tokens >= 0 && tokens <= mostTokens;
}
