import { expect, it } from 'vitest';
import { parseInline, readInline } from '../../../../../api/assistant/links/read-inline.ts';
import { fc, propertyRuns } from '../../../../support/properties.ts';

const pieces = [
  'a', 'two words', ' ', '\n', '\t', '.', '!', '&amp;', 'é', '😀', '\\', '`', '``', '[', ']', '(', ')', '](', '<', '>',
  '`code`', '`a b`', '` a`', '``a`', '`a`b`', '[Guide](/guide)', '[a](/b "t")', '[a](<b>)', '[a]: /b', '[a]:', '![a](/b)',
  '[`a`](/b)', '[[a](/b)](/c)', '[a](/b(c)d)', '[a](/b&amp;c)', '<b>', '<https://a.example>', '[a][b]', '[]()',
]; // prettier-ignore

it('reads simple text as the parser does', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      (parts, mayDefine) => {
        const text = parts.join('');
        expect(readInline(text, { mayDefine })).toEqual(parseInline(text, mayDefine));
      },
    ),
    { numRuns: propertyRuns(1_000) },
  );
});

it.each([
  ['Write `retryLimit` there, see [Guide](/guide) . '],
  ['Write `retry'],
  ['See [the gui'],
  ['[Guide](/guide) and `a b`'],
])('reads %j as the parser does', (text) => {
  for (const mayDefine of [true, false]) expect(readInline(text, { mayDefine })).toEqual(parseInline(text, mayDefine));
});
