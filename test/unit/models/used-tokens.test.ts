import { expect, it } from 'vitest';
import { createPriceBook } from '../../../models/prices.ts';
import { usedTokens } from '../../../models/used-tokens.ts';
import { fc, propertyRuns } from '../../support/properties.ts';

const prices = createPriceBook();
const length = fc.record({ sentCharacters: fc.nat(), receivedCharacters: fc.nat() });
const tokens = fc.option(
  fc.oneof(
    fc.integer(),
    fc.double(),
    fc.constantFrom(Number.NaN, Infinity, -Infinity, -1, 0, 0.5, 1e300, 9e18, Number.MAX_SAFE_INTEGER),
  ),
  { nil: undefined },
);
const reported = fc.record({
  inputTokens: tokens,
  cachedInputTokens: tokens,
  cacheWriteTokens: tokens,
  outputTokens: tokens,
});

it('counts plausible tokens for a call, whatever the provider says', () => {
  fc.assert(
    fc.property(reported, length, (usage, size) => {
      const used = usedTokens(usage, size);
      for (const count of Object.values(used)) {
        expect(Number.isInteger(count)).toBe(true);
        expect(count).toBeGreaterThanOrEqual(0);
        expect(count).toBeLessThanOrEqual(10_000_000);
      }
      expect(used.cachedInputTokens + used.cacheWriteTokens).toBeLessThanOrEqual(used.inputTokens);
      if (size.sentCharacters > 0) expect(prices.costMicrosOf('openai/gpt-5', used)).toBeGreaterThan(0);
    }),
    { numRuns: propertyRuns(2_000) },
  );
});

it('uses plausible counts, and estimates from the text without any', () => {
  const size = { sentCharacters: 1_000, receivedCharacters: 100 };
  const usage = { inputTokens: 300, cachedInputTokens: 200, cacheWriteTokens: 100, outputTokens: 30 };
  expect(usedTokens(usage, size)).toEqual(usage);
  const counted = { inputTokens: 500, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 50 };
  expect(usedTokens({}, size)).toEqual(counted);
  expect(usedTokens({ inputTokens: 0, outputTokens: 0 }, size)).toEqual(counted);
});
