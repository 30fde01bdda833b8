import { expect, it } from 'vitest';
import { slicesOf } from '../../../../api/assistant/slices-of.ts';
import { fc } from '../../../support/properties.ts';

it('cuts a text into bounded slices that add up to the text, without splitting a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.integer({ min: 1, max: 20 }), (text, length) => {
      const slices = [...slicesOf(text, length)];
      expect(slices.join('')).toBe(text);
      for (const slice of slices) expect(slice.length).toBeLessThanOrEqual(length + 1);
      expect(slices.every((slice) => slice.isWellFormed())).toBe(true);
    }),
  );
});
