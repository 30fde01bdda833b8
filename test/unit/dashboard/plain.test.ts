import { expect, it } from 'vitest';
import { beginning, plain } from '../../../dashboard/plain.ts';

it('names control characters and changes of direction, and leaves everything else', () => {
  expect(plain('a\u202Eb\u0000\u001B[31m\u0007\u0085')).toBe('a⟨U+202E⟩b⟨U+0000⟩⟨U+001B⟩[31m⟨U+0007⟩⟨U+0085⟩');
  expect(plain('two\r\nlines\tשלום 😀 <b>')).toBe('two\nlines\tשלום 😀 <b>');
});

it('says how much of a long text is left out', () => {
  expect(beginning('abcdef', 4)).toEqual({ shown: 'abcd', left: 2 });
  expect(beginning('abc', 4)).toEqual({ shown: 'abc', left: 0 });
});
