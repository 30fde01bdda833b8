import { expect, it } from 'vitest';
import { decodeCursor, encodeCursor, InvalidCursorError } from '../../../db/page-cursor.ts';
import { newId } from '../../../db/ids.ts';
import { anyCharacter, fc } from '../../support/properties.ts';

it('returns what it was created from, to the microsecond', () => {
  const cursor = { createdMicros: '1763700000000001', id: newId('job_') };
  expect(decodeCursor(encodeCursor(cursor))).toEqual(cursor);
});

it('refuses a cursor that no page returned', () => {
  const valid = encodeCursor({ createdMicros: '1', id: 'job_1' });
  for (const text of ['', 'x', `${valid}=`, `${valid}!`, ` ${valid}`, Buffer.from("1:job_1'").toString('base64url')]) {
    expect(() => decodeCursor(text)).toThrow(InvalidCursorError);
  }
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (text) => {
      try {
        return encodeCursor(decodeCursor(text)) === text;
      } catch (error) {
        return error instanceof InvalidCursorError;
      }
    }),
  );
});
