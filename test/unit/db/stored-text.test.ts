import { expect, it } from 'vitest';
import { toStoredJson, toStoredText } from '../../../db/stored-text.ts';
import { anyCharacter, fc } from '../../support/properties.ts';

it('changes only what PostgreSQL refuses', () => {
  expect(toStoredText('a\0b')).toBe('a\uFFFDb');
  expect(JSON.parse(toStoredJson({ 'k\0': ['\0', '\ud800', 'x\udc00y', '😀', '\\u0000', '\\'] })!)).toEqual({
    'k\uFFFD': ['\uFFFD', '\uFFFD', 'x\uFFFDy', '😀', '\\u0000', '\\'],
  });
  expect(toStoredJson(undefined)).toBeNull();
});

it('keeps every well-formed value without NUL as it is', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
      const plain = JSON.stringify(value);
      fc.pre(!/\\u0000|\\ud[89a-f]/.test(plain));
      expect(toStoredJson(value)).toBe(plain);
    }),
  );
});

it('never writes an escape that PostgreSQL refuses', () => {
  const texts = fc.string({ unit: anyCharacter });
  fc.assert(
    fc.property(fc.array(fc.oneof(texts, fc.constantFrom('\0', '\ud800', '\\', '\\u0000', '\\ud800'))), (parts) => {
      const stored: unknown = JSON.parse(toStoredJson(parts.join(''))!);
      expect(stored).toBe(parts.join('').toWellFormed().replaceAll('\0', '\uFFFD'));
    }),
  );
});
