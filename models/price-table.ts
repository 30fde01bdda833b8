/** Prices in US dollars per million tokens, and the number of tokens that one request may have. */
export interface ModelPrice {
  input: number;
  /** Price of input that the provider reads from its cache; `cacheWrite`: of input that it writes to its cache. */
  cachedInput: number;
  cacheWrite: number;
  output: number;
  window: number;
  /** Factors for requests with more than `above` input tokens. */
  long?: { above: number; input: number; output: number };
}

const openaiLong = { above: 272_000, input: 2, output: 1.5 };
const googleLong = { above: 200_000, input: 2, output: 1.5 };

function anthropic(input: number, output: number, window: number, cachedShare = 0.1): ModelPrice {
  return { input, output, window, cachedInput: input * cachedShare, cacheWrite: input * 1.25 };
}

/** Before GPT-5.6, writing to the cache costs no more than the input itself. */
function openai(input: number, cachedInput: number, output: number, window: number): ModelPrice {
  return { input, cachedInput, cacheWrite: input, output, window };
}

function openaiTiered(input: number, cachedInput: number, output: number, cacheWrite = input): ModelPrice {
  return { input, cachedInput, cacheWrite, output, window: 1_050_000, long: openaiLong };
}

function google(input: number, cachedInput: number, output: number): ModelPrice {
  return { input, cachedInput, cacheWrite: input, output, window: 1_000_000 };
}

const sonnet4: ModelPrice = anthropic(3, 15, 200_000);
const haiku55: ModelPrice = { ...anthropic(0.1, 0.5, 1_000_000), long: { above: 100_000, input: 5, output: 5 } };
const opus4: ModelPrice = anthropic(15, 75, 200_000);
const opus46: ModelPrice = anthropic(5, 25, 1_000_000);
const gpt5: ModelPrice = openai(1.25, 0.125, 10, 400_000);
const gpt5Mini: ModelPrice = openai(0.25, 0.025, 2, 400_000);
const gpt52: ModelPrice = openai(1.75, 0.175, 14, 400_000);
// until 31 December 2026 Google asks for half of it
const flash: ModelPrice = google(1.5, 0.15, 7.5);
const gemini3Pro: ModelPrice = { ...google(2, 0.2, 12), long: googleLong };

/** List prices of the providers' own APIs (standard tier, text) in November 2026. */
export const listPrices: Readonly<Record<string, ModelPrice>> = {
  'anthropic/claude-fable-5': anthropic(10, 50, 1_000_000),
  'anthropic/claude-fable-5-1': anthropic(10, 50, 1_000_000, 0.025),
  'anthropic/claude-fable-5-2': anthropic(8, 40, 1_000_000, 0.025),
  'anthropic/claude-opus-5-5': anthropic(4, 20, 1_000_000, 0.05),
  'anthropic/claude-opus-5': opus46,
  'anthropic/claude-opus-4-8': opus46,
  'anthropic/claude-opus-4-7': opus46,
  'anthropic/claude-opus-4-6': opus46,
  'anthropic/claude-opus-4-5': anthropic(5, 25, 200_000),
  'anthropic/claude-opus-4-1': opus4,
  'anthropic/claude-opus-4-0': opus4,
  'anthropic/claude-opus-4': opus4,
  'anthropic/claude-sonnet-5-5': anthropic(2, 10, 1_000_000, 0.05),
  'anthropic/claude-sonnet-5': anthropic(2, 10, 1_000_000),
  'anthropic/claude-sonnet-4-6': anthropic(3, 15, 1_000_000),
  'anthropic/claude-sonnet-4-5': { ...sonnet4, long: { above: 200_000, input: 2, output: 1.5 } },
  'anthropic/claude-sonnet-4-0': sonnet4,
  'anthropic/claude-sonnet-4': sonnet4,
  'anthropic/claude-haiku-5-5': haiku55,
  'anthropic/claude-haiku-4-5': anthropic(1, 5, 200_000),

  'openai/gpt-6.1-sol': openaiTiered(2, 0.1, 10, 2.5),
  'openai/gpt-6.1-terra': openaiTiered(1, 0.05, 5, 1.25),
  'openai/gpt-6-astra': openaiTiered(10, 1, 50, 12.5),
  'openai/gpt-6-sol': openaiTiered(2, 0.2, 10, 2.5),
  'openai/gpt-6-luna': openaiTiered(0.1, 0.01, 0.5, 0.125),
  'openai/gpt-5.6-sol': openaiTiered(4, 0.4, 20, 5),
  'openai/gpt-5.6-terra': openaiTiered(2, 0.2, 12, 2.5),
  'openai/gpt-5.6-luna': openaiTiered(0.2, 0.02, 1.2, 0.25),
  'openai/gpt-5.5': openaiTiered(5, 0.5, 30),
  'openai/gpt-5.4': openaiTiered(2.5, 0.25, 15),
  'openai/gpt-5.4-mini': openai(0.75, 0.075, 4.5, 400_000),
  'openai/gpt-5.4-nano': openai(0.2, 0.02, 1.25, 400_000),
  'openai/gpt-5.4-pro': openaiTiered(30, 30, 180),
  'openai/gpt-5.3-codex': gpt52,
  'openai/gpt-5.2': gpt52,
  'openai/gpt-5.2-codex': gpt52,
  'openai/gpt-5.2-pro': openai(21, 21, 168, 400_000),
  'openai/gpt-5.1': gpt5,
  'openai/gpt-5.1-codex': gpt5,
  'openai/gpt-5.1-codex-max': gpt5,
  'openai/gpt-5.1-codex-mini': gpt5Mini,
  'openai/gpt-5': gpt5,
  'openai/gpt-5-codex': gpt5,
  'openai/gpt-5-mini': gpt5Mini,
  'openai/gpt-5-nano': openai(0.05, 0.005, 0.4, 400_000),
  'openai/gpt-5-pro': openai(15, 15, 120, 400_000),
  'openai/gpt-4.1': openai(2, 0.5, 8, 1_000_000),
  'openai/gpt-4.1-mini': openai(0.4, 0.1, 1.6, 1_000_000),
  'openai/gpt-4.1-nano': openai(0.1, 0.025, 0.4, 1_000_000),
  'openai/gpt-4o': openai(2.5, 1.25, 10, 128_000),
  'openai/gpt-4o-mini': openai(0.15, 0.075, 0.6, 128_000),
  'openai/o3': openai(2, 0.5, 8, 200_000),
  'openai/o3-mini': openai(1.1, 0.55, 4.4, 200_000),
  'openai/o4-mini': openai(1.1, 0.275, 4.4, 200_000),

  'google/gemini-4-argon': google(4, 0.2, 20),
  'google/gemini-3.8-flash': flash,
  'google/gemini-3.7-flash': flash,
  'google/gemini-3.6-flash': flash,
  'google/gemini-3.5-flash': google(1.5, 0.15, 9),
  'google/gemini-3.5-flash-lite': google(0.3, 0.03, 2.5),
  'google/gemini-3.1-pro-preview': gemini3Pro,
  'google/gemini-3.1-flash-lite-preview': google(0.25, 0.025, 1.5),
  'google/gemini-3-pro-preview': gemini3Pro,
  'google/gemini-3-flash-preview': google(0.5, 0.05, 3),
  'google/gemini-2.5-pro': { ...google(1.25, 0.125, 10), long: googleLong },
  'google/gemini-2.5-flash': google(0.3, 0.03, 2.5),
  'google/gemini-2.5-flash-lite': google(0.1, 0.01, 0.4),
};
