import { describe, expect, it, vi } from 'vitest';
import { mdxToMarkdown } from '../../../../search/read/mdx.ts';
import { fc } from '../../../support/properties.ts';

vi.setConfig({ testTimeout: 60_000 });

const nested = (text: string, depth: number): string => {
  if (depth === 0) return text;
  const inner = nested(text, depth - 1)
    .split('\n')
    .map((line) => (line === '' ? '' : `  ${line}`))
    .join('\n');
  return `<Box>\n${inner}\n</Box>`;
};

describe('the indentation of nested tags', () => {
  it('is removed, while lists and code keep their own', () => {
    const text = [
      'First words.',
      '',
      '1. One',
      '   - inner',
      '',
      '   ```sh',
      '   run',
      '     --deep',
      '   ```',
      '2. Two',
      '',
      '```js',
      'if (x) {',
      '  y();',
      '}',
      '```',
    ].join('\n');
    expect(mdxToMarkdown(nested(text, 4)).trim()).toBe(text);
  });

  it('is removed from the steps of a page', () => {
    expect(
      mdxToMarkdown(
        '<Steps>\n  <Step title="Open it.">\n    1. Go.\n    2. Click.\n\n    After that it restarts.\n  </Step>\n</Steps>\n\nDone.',
      ).trim(),
    ).toBe('**Open it.**\n\n1. Go.\n2. Click.\n\nAfter that it restarts.\n\nDone.');
  });

  it('is kept where a tag is in a list item', () => {
    expect(mdxToMarkdown('1. One\n\n   <Note>\n     Mind it.\n   </Note>\n\n2. Two')).toBe(
      '1. One\n\n   **Note**\n\n   Mind it.\n\n2. Two',
    );
  });

  it('is removed at any depth, without losing a word', () => {
    const word = fc.constantFrom('a', 'b c', '- x', '  - y', '1. z', '', '## h', '| t |');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), fc.integer({ min: 0, max: 6 }), (lines, depth) => {
        const text = lines.join('\n');
        const words = (markdown: string) => markdown.split(/\s+/).filter(Boolean);
        const result = mdxToMarkdown(nested(text, depth));
        expect(words(result)).toEqual(words(text));
        if (depth > 0) expect(result).not.toMatch(/^ {4,}[a-h]/m);
      }),
    );
  });

  it('leaves text without tags as it is', () => {
    const word = fc.constantFrom('a', '    b', '- x', '    - y', '1. z', '', '```', '\tq', '> ');
    fc.assert(
      fc.property(fc.array(word, { maxLength: 20 }), (lines) => {
        expect(mdxToMarkdown(`${lines.join('\n')}\nend`)).toBe(`${lines.join('\n')}\nend`);
      }),
    );
  });

  it.each([' <a>\n', '- <a>\n  ', `${' '.repeat(2000)}- <a>\n`, '<a>\n</b>\n', '<a><b></a>'])(
    'of nothing but %j makes no text that is longer',
    (bit) => {
      const source = bit.repeat(Math.ceil(200_000 / bit.length));
      expect(mdxToMarkdown(source).length).toBeLessThanOrEqual(source.length + 1000);
    },
  );
});

it('renders an image like Markdown', () => {
  expect(mdxToMarkdown('<img src="/a.png" alt="The [menu]" />').trim()).toBe('![The menu](/a.png)');
});

it.each([
  ['<Warning>Hot.</Warning>', '**Warning**\nHot.'],
  ['<Check>\n  Done.\n</Check>', '**Check**\n\nDone.'],
  ['<Aside>\nLook.\n</Aside>', '**Note**\n\nLook.'],
  ['<Aside type="caution" title="Hot &amp; sharp">\nLook.\n</Aside>', '**Caution: Hot & sharp**\n\nLook.'],
  ['<Admonition type="tip" icon="x" id="here">\nLook.\n</Admonition>', '<a id="here"></a>**Tip**\n\nLook.'],
  ['<Callout type="info">\nLook.\n</Callout>', '**Info**\n\nLook.'],
  ['<Callout icon="x">\nLook.\n</Callout>', 'Look.'],
  ['<Note />\n\n`<Note>`', '`<Note>`'],
])('keeps the label of an admonition: %s', (source, text) => {
  expect(mdxToMarkdown(source).trim()).toBe(text);
});
