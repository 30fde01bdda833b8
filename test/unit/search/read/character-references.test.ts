import { micromark } from 'micromark';
import { expect, it } from 'vitest';
import { plainText } from '../../../../search/read/markdown-lines.ts';
import { mdxToMarkdown, plainMarkdown } from '../../../../search/read/mdx.ts';
import { readPages } from '../../../../search/read/read-pages.ts';
import { fc } from '../../../support/properties.ts';
import { fileOf } from '../build.ts';

const readers = [
  ['MDX', mdxToMarkdown],
  ['Markdown', plainMarkdown],
] as const;

it.each(readers)('%s pages lose the character references of their prose', (_name, read) => {
  expect(read('L&#39;index &mdash; d&apos;une&nbsp;page &#x22;A&#x22; &AMP; B &bogus; &')).toBe(
    'L\'index — d\'une\u00a0page "A" & B &bogus; &',
  );
});

it.each(readers)('%s pages keep the character references of their code', (_name, read) => {
  const code = 'Write `&lt;` or ``a `&lt;` b``:\n\n```html\n&lt;p&gt;\n```\n\n~~~\n&amp;\n~~~';
  expect(read(code)).toBe(code);
});

it('indented code of Markdown pages keeps its character references, but text in a list does not', () => {
  expect(plainMarkdown('Code:\n\n    a &lt; b\n\n    c &lt; d\n\n- A &lt; b\n\n    c &lt; d\n\nEnd &lt; f')).toBe(
    'Code:\n\n    a &lt; b\n\n    c &lt; d\n\n- A < b\n\n    c < d\n\nEnd < f',
  );
});

it('tags of Markdown pages keep their attributes', () => {
  expect(plainMarkdown('<a title="&quot;x&quot;">a &quot;b&quot;</a>')).toBe('<a title="&quot;x&quot;">a "b"</a>');
});

it('titles and types of MDX tags lose their character references, but strings of JavaScript do not', () => {
  expect(mdxToMarkdown('<Card title="Fails with &quot;&lt;Map&gt;&quot;" />').trim()).toBe('**Fails with "\\<Map>"**');
  expect(mdxToMarkdown('<ResponseField name="a" type="&#x22;b&#x22; | c" />').trim()).toBe('`a` ("b" | c)');
  expect(mdxToMarkdown("<Card title={'R&amp;D'} />").trim()).toBe('**R&amp;D**');
});

it('a decoded mark is found as text and rendered as it was', () => {
  const text = mdxToMarkdown('Returns Map&lt;String&gt;, not &lt;br&gt;, a &#42;b&#42;, &amp;lt; and\n&#35; x');
  expect(plainText(text)).toBe('Returns Map<String>, not <br>, a *b*, &lt; and\n# x');
});

it('a reader of Markdown shows the same text before and after', () => {
  const part = fc.constantFrom(
    ...'&lt; &gt; &amp; &#42; &#35; &#96; &#45; &#x3d; &#91; &#93; &#10; &vert; &#43; &#126; &#92;'.split(' '),
    ...'&lt lt; a \\ b> / ! #38; (x)'.split(' '),
    ' ',
    '\n',
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const shown = (text: string) => micromark(text).replace(/\s+/g, '');
      const source = `a${parts.join('')}`;
      expect(shown(plainMarkdown(source))).toBe(shown(source));
    }),
  );
});

it('the title of a page, and the anchor of a heading, are those that are published', async () => {
  const [page] = await readPages([fileOf('a.mdx', '# R&amp;D\n\n## Terms &amp; conditions\n')]);
  expect(page?.metadata.title).toBe('R&D');
  expect(page?.content).toContain('## Terms & conditions');
});
