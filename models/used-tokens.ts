import type { PricedUsage } from './prices.ts';

/** What a provider says a call used. */
export type ReportedUsage = { [Kind in keyof PricedUsage]?: number | undefined };

/** How much text a call sent and got. */
export interface CallLength {
  sentCharacters: number;
  receivedCharacters: number;
}

/** No model's window holds more. */
const mostTokens = 10_000_000;

/** How many tokens a text likely has; providers count themselves. */
export function likelyTokensOf(characters: number): number {
  return Math.ceil(characters / 3.5);
}

/** The most tokens that a text is expected to have: two characters each, except in scripts that no price list knows. */
export function mostTokensOf(characters: number): number {
  return Math.ceil(characters / 2);
}

/**
 * What a call counts with. A provider is believed while what it says is possible; otherwise, and where it says nothing,
 * the call counts with the most that its text can be, so that no provider works for free or gives a budget back.
 */
export function usedTokens(reported: ReportedUsage, { sentCharacters, receivedCharacters }: CallLength): PricedUsage {
  const inputTokens = believed(reported.inputTokens, sentCharacters);
  const cachedInputTokens = partOf(reported.cachedInputTokens, inputTokens);
  return {
    inputTokens,
    cachedInputTokens,
    cacheWriteTokens: partOf(reported.cacheWriteTokens, inputTokens - cachedInputTokens),
    outputTokens: believed(reported.outputTokens, receivedCharacters),
  };
}

function believed(tokens: number | undefined, characters: number): number {
  const least = characters > 0 ? 1 : 0;
  return isCount(tokens) && tokens >= least ? tokens : Math.min(mostTokensOf(characters), mostTokens);
}

function partOf(tokens: number | undefined, whole: number): number {
  return isCount(tokens) && tokens <= whole ? tokens : 0;
}

function isCount(tokens: number | undefined): tokens is number {
  return Number.isInteger(tokens) && tokens !== undefined && tokens >= 0 && tokens <= mostTokens;
}
