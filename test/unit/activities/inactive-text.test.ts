import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inactiveMarkdown, inactiveWords } from '../../../activities/inactive-text.ts';

const gap = '\u200b';

describe('words for titles and commits', () => {
  it.each([
    ['Fixes #12', 'Fixes (#12)'],
    ['closes: acme/lamp#3 and more', 'closes: (acme/lamp#3) and more'],
    ['Resolved\nGH-4', 'Resolved\n(GH-4)'],
    ['fix https://github.com/a/b/issues/5.', 'fix (https://github.com/a/b/issues/5).'],
    ['Implements issue #7', 'Implements issue (#7)'],
    ['Thank @ada, a@b.c and @acme/team', `Thank @${gap}ada, a@b.c and @${gap}acme/team`],
    ['Fix the lamp [skip ci] [ci skip] [No CI]', 'Fix the lamp (skip ci) (ci skip) (No CI)'],
    ['Done.\n\nSigned-off-by: A <a@b.c>\rAgent-Job: job_2', 'Done.\n\n  Signed-off-by: A <a@b.c>\n  Agent-Job: job_2'],
  ])('of %j are %j', (text, expected) => {
    expect(inactiveWords(text)).toBe(expected);
  });

  it.each(['Fix the colour of #12', 'See #3, !4 and [a](b)', 'prefix #1', 'Say who: x', 'a -- b'])(
    'leaves %j as it is',
    (text) => {
      expect(inactiveWords(text)).toBe(text);
    },
  );
});

describe('Markdown for descriptions', () => {
  it.each([
    ['Use `@scope/x <b> fixes #1` here', 'Use `@scope/x <b> fixes #1` here'],
    ['```html\n<p>@ada</p>\n```\n@ada', `\`\`\`html\n<p>@ada</p>\n\`\`\`\n@${gap}ada`],
    ['~~~\n@ada\n~~~~', '~~~\n@ada\n~~~~'],
    ['See <https://x.test/@a> and <b>', `See <https://x.test/@${gap}a> and &lt;b>`],
    ['<a href="`">x`', '&lt;a href="`">x`'],
    ['a < b & c', 'a < b & c'],
    ['&#64;ada &commat;ada', '&amp;#64;ada &amp;commat;ada'],
    ['fixes \\#1, closes **#2**', 'fixes \\(#1), closes **(#2)**'],
  ])('makes of %j %j', (text, expected) => {
    expect(inactiveMarkdown(text)).toBe(expected);
  });

  it.each([
    ['a span that goes on in the next line', '`a\nb` @ada `c'],
    ['a span in two cells of a table', '| `a | @ada ` |'],
    ['an escaped backtick', '\\`a @ada `'],
    ['a block that ends with its list', '1. a\n   ```\n@ada\n   ```'],
    ['a block that is none', '```a`b\n@ada'],
    ['a block that is closed by more', '```\na\n````\n@ada'],
    ['another line break', '```\ra\r```\r@ada'],
  ])('finds a mention behind %s', (_, text) => {
    expect(inactiveMarkdown(text)).toContain(`@${gap}ada`);
  });

  it('closes a block of code that is left open, and spells comments out in it', () => {
    expect(inactiveMarkdown('Done:\n````js\n<!-- a -->\n```')).toBe('Done:\n````js\n&lt;!-- a -->\n```\n````');
  });

  it('keeps text that nobody acts upon, whatever it is', () => {
    const words = fc.array(fc.constantFrom('a', 'Fix', '#1', '`', '```', '\n', ' ', '|', 'b.c', '*', '- '));
    fc.assert(
      fc.property(words, (parts) => {
        const text = parts.join('');
        const bare = (said: string) => said.replaceAll(/[()`\n]/g, '');
        expect(bare(inactiveMarkdown(text))).toBe(bare(text));
      }),
    );
  });
});
