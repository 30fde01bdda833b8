import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { LongList } from '../../../dashboard/components/long-list.tsx';

function shownOf(length: number): { html: string; shown: number[] } {
  let shown: number[] = [];
  const items = Array.from({ length }, (_, at) => at);
  const html = renderToStaticMarkup(
    createElement(LongList<number>, {
      items,
      what: 'keys',
      textOf: String,
      children(some) {
        shown = some;
        return null;
      },
    }),
  );
  return { html, shown };
}

it('shows all items of a short list, without a search', () => {
  const { html, shown } = shownOf(100);
  expect([html, shown.length]).toEqual(['', 100]);
});

it('shows the newest items of a long list, with a search for the others', () => {
  const { html, shown } = shownOf(10_000);
  expect([shown.length, shown.at(-1)]).toEqual([100, 9_999]);
  expect(html).toContain('placeholder="Search 10,000 keys"');
  expect(html).toContain('Shows the newest 100 of 10,000.');
});
