import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { MarkedWords } from '../../../dashboard/compare/marked-words.tsx';

const shown = (side: 'left' | 'right', left: string, right: string) =>
  renderToStaticMarkup(createElement(MarkedWords, { left, right, side }));

it('marks in each text the words that the other one lacks', () => {
  expect(shown('left', 'Rename the old file', 'Rename the new file')).toContain('>Rename the <del>old</del> file<');
  expect(shown('right', 'Rename the old file', 'Rename the new file')).toContain('>Rename the <ins>new</ins> file<');
});

it('shows equal texts without marks, and markup and hidden characters as text', () => {
  const text = '<b>bold</b> \u202Ereversed';
  const html = shown('left', text, text);
  expect(html).toContain('&lt;b&gt;bold&lt;/b&gt; ⟨U+202E⟩reversed');
  expect(html).not.toMatch(/<(?:ins|del)>/);
});

it('shows a text without marks when comparing it would take too long', () => {
  const words = (seed: number) => Array.from({ length: 60_000 }, (_, at) => `w${(at * seed) % 65_521}`).join(' ');
  const [left, right] = [words(7_919), words(104_729)];
  expect(shown('right', left, right)).toContain(right);
});
