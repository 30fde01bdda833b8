import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createPriceBook, parsePrices } from '../../../models/prices.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const usage = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };

describe('the cost of a call', () => {
  const prices = createPriceBook();

  it.each([
    ['anthropic/claude-sonnet-4-5', { inputTokens: 10_000, outputTokens: 1_000 }, 45_000],
    ['anthropic/claude-sonnet-4-5-20250929', { inputTokens: 10_000, outputTokens: 1_000 }, 45_000],
    // 2,000 fresh, 7,000 cached, 1,000 written to the cache
    ['anthropic/claude-sonnet-4-5', { inputTokens: 10_000, cachedInputTokens: 7_000, cacheWriteTokens: 1_000 }, 11_850],
    // a long request costs twice as much for its input and half as much again for its output
    ['anthropic/claude-sonnet-4-5', { inputTokens: 300_000, outputTokens: 1_000 }, 1_822_500],
    ['openai/gpt-5-mini-2025-08-07', { inputTokens: 1_000, cachedInputTokens: 500, outputTokens: 100 }, 338],
    ['google/gemini-2.5-pro', { inputTokens: 1_000, outputTokens: 100 }, 2_250],
    ['offline/editor', { inputTokens: 1_000_000, outputTokens: 1_000_000 }, 0],
  ])('of %s for %o is %d millionths of a dollar', (model, used, micros) => {
    expect(prices.costMicrosOf(model, { ...usage, ...used })).toBe(micros);
  });

  it('is unknown for a model without a price, even if its name is one of JavaScript’s', () => {
    expect(prices.costMicrosOf('compatible/qwen', { ...usage, inputTokens: 1 })).toBe(null);
    expect(prices.costMicrosOf('constructor', { ...usage, inputTokens: 1 })).toBe(null);
  });

  it('is rounded up, but not because of binary fractions', () => {
    expect(prices.costMicrosOf('openai/gpt-5-nano', { ...usage, inputTokens: 1 })).toBe(1);
    expect(prices.costMicrosOf('anthropic/claude-opus-5-5', { ...usage, inputTokens: 3, cachedInputTokens: 3 })).toBe(
      1,
    );
    expect(prices.costMicrosOf('openai/gpt-6-luna', { ...usage, inputTokens: 30 })).toBe(3);
  });
});

describe('custom prices', () => {
  const own = '{"compatible/qwen": {"input": 0.2, "output": 0.6, "window": 32768}, "openai/gpt-5": {"window": 9000}}';

  it('override the list, and change nothing else', () => {
    const prices = createPriceBook(parsePrices(own));
    expect(prices.costMicrosOf('compatible/qwen', { ...usage, inputTokens: 100, cachedInputTokens: 50 })).toBe(20);
    expect(prices.windowOf('compatible/qwen')).toBe(32_768);
    expect(prices.costMicrosOf('openai/gpt-5', { ...usage, inputTokens: 100 })).toBe(125);
    expect(prices.windowOf('openai/gpt-5')).toBe(9_000);
    expect(prices.windowOf('compatible/unknown')).toBe(128_000);
  });

  it.each([
    ['anthropic/claude-sonnet-4-5', { cachedInputTokens: 1_000 }, 200],
    ['anthropic/claude-sonnet-4-5', { cacheWriteTokens: 1_000 }, 2_500],
    ['anthropic/claude-unlisted', { cachedInputTokens: 1_000 }, 2_000],
    ['anthropic/claude-unlisted', { cacheWriteTokens: 1_000 }, 2_500],
    ['openai/gpt-5', { cachedInputTokens: 1_000 }, 200],
    ['compatible/qwen', { cachedInputTokens: 500, cacheWriteTokens: 500 }, 2_000],
  ])('of %s for input alone keep the proportions of its cache: %o costs %d', (model, used, micros) => {
    const prices = createPriceBook({ [model]: { input: 2, output: 10 } });
    expect(prices.costMicrosOf(model, { ...usage, inputTokens: 1_000, ...used })).toBe(micros);
  });

  it('can be in a file', async () => {
    const folder = temporaryDirectory();
    await writeFile(join(folder, 'prices.json'), own);
    expect(parsePrices(join(folder, 'prices.json'))).toEqual(parsePrices(own));
  });

  it.each([
    ['{"compatible/qwen": {"input": 1}}', /input and output must be set together/],
    ['{"compatible/qwen": {"input": -1, "output": 1}}', /is invalid at "compatible\/qwen input"/],
    ['{"compatible/qwen": {"price": 1}}', /is invalid/],
    ['{"qwen": {}}', /is invalid/],
    ['{', /not valid JSON/],
    ['/nowhere/prices.json', /neither a JSON object nor a readable file/],
  ])('are refused when they are %s', (text, problem) => {
    expect(() => parsePrices(text)).toThrow(problem);
  });
});
