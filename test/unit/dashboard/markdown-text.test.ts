import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { MarkdownText } from '../../../dashboard/components/markdown-text.tsx';

const render = (text: string) =>
  renderToStaticMarkup(createElement(MarkdownText, { text, resolve: undefined, anchor: undefined }));

it('names an alert of a forge in words', () => {
  expect(render('> [!WARNING]\n> The *work* is not finished.')).toContain(
    '<p><strong>Warning</strong>: The <em>work</em> is not finished.</p>',
  );
});

it.each(['> [!OTHER]\n> A text', '> A [!NOTE]', '[!NOTE]\ntext', '> `[!NOTE]` text', '> - [!NOTE] text', '>'])(
  'leaves other quotations as they are: %j',
  (text) => expect(render(text)).not.toContain('<strong>'),
);
