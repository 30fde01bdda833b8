import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { listPrices, type ModelPrice } from './price-table.ts';

/** Token usage of a call. Cached and written tokens are part of the input. */
export interface PricedUsage {
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
}

const amount = z.number().nonnegative();
const overrideSchema = z
  .strictObject({
    input: amount.optional(),
    cachedInput: amount.optional(),
    cacheWrite: amount.optional(),
    output: amount.optional(),
    window: z.int().min(1_000).optional(),
    images: z.boolean().optional(),
  })
  .refine(
    ({ input, output }) => (input === undefined) === (output === undefined),
    'input and output must be set together',
  );
const overridesSchema = z.record(z.string().regex(/^[a-z]+\/\S+$/), overrideSchema);
type Override = z.infer<typeof overrideSchema>;
export type PriceOverrides = Readonly<Record<string, Override>>;

/** Window of an unknown model: the smallest common one among models with tools. */
const defaultWindow = 128_000;
/** Providers whose chat models see images, and those of their models that do not. */
const seeingProvider = /^(?:anthropic|openai|google)\//;
const blindModel = /^openai\/(?:gpt-3\.5|gpt-4(?:-\d{4})?$|o1-mini|o1-preview|o3-mini)/;
/** Versions of a model cost the same: dates, `-latest` and Google's `-001`. */
const versionSuffix = /-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest|\d{3})$/;

export type PriceBook = ReturnType<typeof createPriceBook>;

/**
 * Creates the prices of models: the given ones, else the providers' list prices. The offline models cost nothing. A
 * model without either has no price: its cost is unknown, never zero.
 */
export function createPriceBook(overrides: PriceOverrides = {}) {
  const overrideOf = (model: string) => ofModel(overrides, model);

  function priceOf(model: string): Omit<ModelPrice, 'window'> | null {
    if (model.startsWith('offline/')) return { input: 0, cachedInput: 0, cacheWrite: 0, output: 0 };
    const own = overrideOf(model);
    if (own?.input === undefined || own.output === undefined) return ofModel(listPrices, model);
    const listed = ofModel(listPrices, model) ?? unlistedPriceOf(model);
    const factor = own.input / listed.input;
    const { input, output, cachedInput = listed.cachedInput * factor, cacheWrite = listed.cacheWrite * factor } = own;
    return { input, output, cachedInput, cacheWrite };
  }

  return {
    /** Returns the cost of a call in millionths of a US dollar, rounded up; null if the model has no price. */
    costMicrosOf(model: string, usage: PricedUsage): number | null {
      const price = priceOf(model);
      if (price === null) return null;
      const { inputTokens, cachedInputTokens: cached, cacheWriteTokens: written, outputTokens } = usage;
      const fresh = Math.max(0, inputTokens - cached - written);
      const isLong = price.long !== undefined && inputTokens > price.long.above;
      const factor = isLong && price.long !== undefined ? price.long : { input: 1, output: 1 };
      // a dollar per million tokens is a millionth of a dollar per token
      const input = fresh * price.input + cached * price.cachedInput + written * price.cacheWrite;
      // rounded to nine decimals, because the rest is an error of binary fractions
      const micros = input * factor.input + outputTokens * price.output * factor.output;
      return Math.ceil(Number(micros.toFixed(9)));
    },
    /** Returns the number of tokens that one request to the model may have. */
    windowOf(model: string): number {
      // the offline models read any length and cannot summarize
      if (model.startsWith('offline/')) return Number.MAX_SAFE_INTEGER;
      return overrideOf(model)?.window ?? ofModel(listPrices, model)?.window ?? defaultWindow;
    },
    /** Reports whether a model can see images. */
    seesImages: (model: string): boolean =>
      overrideOf(model)?.images ?? (seeingProvider.test(model) && !blindModel.test(model)),
  };
}

/** Without a known price, cached input costs as much as other input. Anthropic's models charge more for cache writes. */
function unlistedPriceOf(model: string): Pick<ModelPrice, 'input' | 'cachedInput' | 'cacheWrite'> {
  return { input: 1, cachedInput: 1, cacheWrite: model.startsWith('anthropic/') ? 1.25 : 1 };
}

/**
 * Reads prices from JSON or from a file that holds it:
 * `{"compatible/qwen": {"input": 0.2, "output": 0.6, "cachedInput": 0.02, "cacheWrite": 0.2, "window": 131072}}`, in US
 * dollars per million tokens. Throws an Error whose message says what is wrong.
 */
export function parsePrices(text: string): PriceOverrides {
  const json = text.trimStart().startsWith('{') ? text : readText(text);
  const parsed = overridesSchema.safeParse(jsonOf(json));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`is invalid at ${JSON.stringify(issue?.path.join(' ') ?? '')}: ${issue?.message ?? ''}`);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Error('is neither a JSON object nor a readable file', { cause: error });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error('is not valid JSON', { cause: error });
  }
}

function ofModel<Value>(table: Readonly<Record<string, Value>>, model: string): Value | null {
  for (const name of [model, model.replace(versionSuffix, '')]) {
    if (Object.hasOwn(table, name)) return table[name] ?? null;
  }
  return null;
}

/** The variable with the operator's prices, which both processes read. */
export const priceVariables = z.object({
  DOCKET_MODEL_PRICES: z
    .string()
    .transform((text, context): PriceOverrides => {
      try {
        return parsePrices(text);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'cannot be read' });
        return z.NEVER;
      }
    })
    .default({}),
});
