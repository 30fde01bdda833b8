import { expect, it } from 'vitest';
import { textChunks } from '../../../lib/text-chunks.ts';
import { anyCharacter, fc } from '../../support/properties.ts';

it('cuts a text into bounded chunks that add up to the text, without splitting a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), fc.integer({ min: 2, max: 20 }), (text, length) => {
      const chunks = [...textChunks(text, length)];
      expect(chunks.map((chunk) => chunk.text).join('')).toBe(text);
      for (const chunk of chunks) {
        expect(chunk.text).toBe(text.slice(chunk.offset, chunk.offset + chunk.text.length));
        expect(chunk.text.length).toBeLessThanOrEqual(length);
        expect(chunk.text.isWellFormed()).toBe(true);
      }
    }),
  );
});
