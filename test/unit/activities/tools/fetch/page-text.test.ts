import { expect, it } from 'vitest';
import { problemWithType } from '../../../../../activities/tools/fetch/page-body.ts';
import { pageText } from '../../../../../activities/tools/fetch/page-text.ts';
import { fc, propertyRuns } from '../../../../support/properties.ts';

const url = 'https://docs.example.com/a/b';

it.each([
  [null, true],
  ['text/html; charset=utf-8', true],
  ['TEXT/Markdown', true],
  ['application/json', true],
  ['application/problem+json', true],
  ['image/svg+xml', false],
  ['application/pdf', false],
  ['application/octet-stream', false],
  ['multipart/form-data', false],
  ['nonsense', true],
])('%s is read: %s', (type, isRead) => {
  expect(problemWithType(type) === null).toBe(isRead);
});

it('answers every body and type with a text or a problem', () => {
  const type = fc.oneof(
    fc.constantFrom(
      null,
      'text/html',
      'text/plain; charset=utf-16',
      'text/html; charset=shift_jis',
      'text/html; charset=utf-7',
    ),
    fc.string(),
  );
  const markup = fc
    .array(
      fc.constantFrom(
        '<p>',
        '<table><tr>',
        '</p>',
        '<a href="javascript:x">',
        '<a href="//[">',
        '<svg>',
        '<!--',
        '&#0;',
        '<base href=x>',
        '\u0000',
        'text',
        '<svg><title>',
        '<plaintext>',
        '<template>',
      ),
      { maxLength: 40 },
    )
    .map((parts) => Buffer.from(parts.join('')));
  fc.assert(
    fc.property(type, fc.oneof(fc.uint8Array({ maxLength: 400 }), markup), (given, bytes) => {
      const read = pageText({ url, type: given, bytes });
      if ('text' in read) expect(read.text).not.toContain('\0');
      else expect(read.problem).toMatch(/^(?:is|has) /);
    }),
    { numRuns: propertyRuns(500) },
  );
});

it('keeps what a link runs out of the Markdown', () => {
  const html = '<a href="javascript:alert(1)">one</a> <a href="data:text/html,x">two</a> <a href="/x y">three</a>';
  const read = pageText({ url, type: 'text/html', bytes: Buffer.from(html) });
  expect(read).toEqual({ text: 'one two [three](https://docs.example.com/x%20y)' });
});
