import { APICallError } from '@ai-sdk/provider';
import type { PricedUsage } from './prices.ts';

/** Token usage of a call, as the provider reports it. */
export type ReportedUsage = { [Kind in keyof PricedUsage]?: number | undefined };

/** Amount of text that a call sent and received. */
export interface CallLength {
  sentCharacters: number;
  receivedCharacters: number;
}

/** No model has a larger context window. */
const maxTokens = 10_000_000;

/** Estimates the tokens of a text; providers count with their own tokenizers. */
export function likelyTokensOf(characters: number): number {
  return Math.ceil(characters / 3.5);
}

/** Returns an upper bound of the tokens of a text: two characters each. Only rare scripts need more. */
export function maxTokensOf(characters: number): number {
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

/** Returns the usage that a call is likely charged for while its answer is incomplete: what was sent and received. */
export function likelyTokens({ sentCharacters, receivedCharacters }: CallLength): PricedUsage {
  const [inputTokens, outputTokens] = [likelyTokensOf(sentCharacters), likelyTokensOf(receivedCharacters)];
  return { ...noTokens, inputTokens, outputTokens };
}

/**
 * Returns the usage that a call is charged for whose answer was interrupted with an error. Providers charge neither for what
 * they reject nor for what never reached them.
 */
export function lostTokens(error: unknown, length: CallLength): PricedUsage {
  return isUncharged(error) ? noTokens : likelyTokens(length);
}

/** Usage of a call that was not sent. */
export const noTokens: PricedUsage = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };

function isUncharged(error: unknown): boolean {
  if (!APICallError.isInstance(error)) return false;
  // an interrupted answer has the status it started with
  return (error.statusCode ?? 0) >= 300 || neverSent.test(codesOf(error));
}

const neverSent = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/;

function codesOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return `${'code' in error ? String(error.code) : ''} ${codesOf(error.cause)}`;
}

function plausibleOrMost(tokens: number | undefined, characters: number): number {
  const least = characters > 0 ? 1 : 0;
  return isCount(tokens) && tokens >= least ? tokens : Math.min(maxTokensOf(characters), maxTokens);
}

function partOf(tokens: number | undefined, whole: number): number {
  return isCount(tokens) && tokens <= whole ? tokens : 0;
}

function isCount(tokens: number | undefined): tokens is number {
  return Number.isInteger(tokens) && tokens !== undefined && tokens >= 0 && tokens <= maxTokens;
}
