import { expect, it } from 'vitest';
import { beginning, headline, plain } from '../../../dashboard/plain.ts';

it('names control characters and direction changes, and leaves everything else', () => {
  expect(plain('a\u202Eb\u0000\u001B[31m\u0007\u0085')).toBe('a⟨U+202E⟩b⟨U+0000⟩⟨U+001B⟩[31m⟨U+0007⟩⟨U+0085⟩');
  expect(plain('two\r\nlines\tשלום 😀 <b>')).toBe('two\nlines\tשלום 😀 <b>');
});

it('reports how much of a long text is omitted', () => {
  expect(beginning('abcdef', 4)).toEqual({ shown: 'abcd', left: 2 });
  expect(beginning('abc', 4)).toEqual({ shown: 'abc', left: 0 });
});

it('cuts a headline between words and says so', () => {
  expect(headline('Create a.md\n  with "x"')).toBe('Create a.md with "x"');
  expect(headline('Create notes.md with text', 20)).toBe('Create notes.md with…');
  expect(headline('Create notes.md with text', 19)).toBe('Create notes.md…');
  expect(headline('x'.repeat(30), 20)).toBe(`${'x'.repeat(20)}…`);
});
