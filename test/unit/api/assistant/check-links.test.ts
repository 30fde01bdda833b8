import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLinkChecker } from '../../../../api/assistant/check-links.ts';
import type { LinkTarget } from '../../../../api/assistant/check-links.ts';

function resolve(target: string): LinkTarget | null {
  if (target === '/a') return { url: 'https://docs.example.com/a', path: 'a' };
  if (target === 'https://other.example.com/x') return { url: target, path: null };
  return null;
}

function check(deltas: string[]): { text: string; cited: string[] } {
  const checker = createLinkChecker(resolve);
  const pieces = [...deltas.map((delta) => checker.push(delta)), checker.flush()];
  return { text: pieces.map(({ text }) => text).join(''), cited: pieces.flatMap(({ cited }) => cited) };
}

const cases: [string, string][] = [
  ['See [A](/a).', 'See [A](https://docs.example.com/a).'],
  ['See [B](/b).', 'See B.'],
  ['![shot](/b.png) done', 'shot done'],
  ['[x](javascript:alert(1)) end', 'x end'],
  ['Go to https://other.example.com/x.', 'Go to https://other.example.com/x.'],
  ['Go to https://evil.example.com/y, now', 'Go to (link removed), now'],
  ['<https://evil.example.com/y> now', '(link removed) now'],
  ['<https://other.example.com/x> now', '<https://other.example.com/x> now'],
  ['[see [1] here](/a)', '[see [1] here](https://docs.example.com/a)'],
  ['an array [1, 2] stays', 'an array [1, 2] stays'],
  ['a [ alone', 'a [ alone'],
  ['`[B](/b)` is code', '`[B](/b)` is code'],
  ['```sh\ncurl https://evil.example.com/y\n```\n[B](/b)', '```sh\ncurl https://evil.example.com/y\n```\nB'],
  ['an odd ` tick\n\n[B](/b)', 'an odd ` tick\n\nB'],
  ['ends with http', 'ends with http'],
  ['ends with [A](/a', 'ends with [A](/a'],
  ['[A](</a>) and [A](/a "title")', '[A](https://docs.example.com/a) and [A](https://docs.example.com/a)'],
  ['[one][two] [B](/b)', '[one][two] B'],
  ["[B](/b 'title') [B](/b (title)) [B](\n/b)", 'B B B'],
  ['[B](</my file>) and [B](/b(1)c)', 'B and B'],
  ['[![shot](/b.png)](https://evil.example.com/y) done', '[shot] done'],
  [`[${'x'.repeat(500)}](/b)`, `[${'x'.repeat(500)}]`],
  [`[B](/${'b'.repeat(3_000)})`, `B/${'b'.repeat(3_000)})`],
  ['HTTPS://evil.example.com/y and WWW.evil.example.com now', '(link removed) and (link removed) now'],
  ['see www.evil.example.com. And www. alone, https:// alone', 'see (link removed). And www. alone, https:// alone'],
  ['a <javascript:alert(1)> b', 'a (link removed) b'],
  ['<a href="//evil.example.com">B</a> and <img src=x onerror=y>!', 'B</a> and !'],
  ['Map<string, number> and a < b and <kbd>x</kbd>', 'Map<string, number> and a < b and <kbd>x</kbd>'],
  ['[one][two]\n\n[two]: /b\n[A]: /a "t"\n', '[one][two]\n\n\n[A]: https://docs.example.com/a\n'],
  ['[^1]: /b\n[Note]: some words', '[^1]: /b\n[Note]: some words'],
  ['~~~\n[B](/b)\n~~~\n[B](/b)', '~~~\n[B](/b)\n~~~\nB'],
  ['in a line ``` and [B](/b)', 'in a line ``` and B'],
  ['```js\nx = `a```b`; // [B](/b)\n```\n[B](/b)', '```js\nx = `a```b`; // [B](/b)\n```\nB'],
  ['- ```\n  [B](/b)\n  ```\n- [B](/b)', '- ```\n  [B](/b)\n  ```\n- B'],
  ['```one``` [B](/b)', '```one``` B'],
];

describe('createLinkChecker', () => {
  it.each(cases)('turns %j into %j', (given, expected) => {
    expect(check([given]).text).toBe(expected);
  });

  it('answers the same however the text is cut', () => {
    const piece = fc.constantFrom(
      ...cases.map(([given]) => given),
      '[',
      ']',
      '(',
      ')',
      '`',
      '```',
      'http',
      '://',
      'www.',
      '~~~',
      '](',
      ':',
      '\n',
      '"',
      '<a href=x>',
      '>',
      '\\',
      'x',
      '\n\n',
      '!',
      '<',
      'word ',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }),
        fc.array(fc.nat(12), { minLength: 1, maxLength: 40 }),
        fc.constantFrom('', ' '),
        (pieces, cuts, separator) => {
          const text = pieces.join(separator);
          const deltas: string[] = [];
          let rest = text;
          for (let index = 0; rest !== ''; index += 1) {
            const length = (cuts[index % cuts.length] ?? 0) + 1;
            deltas.push(rest.slice(0, length));
            rest = rest.slice(length);
          }
          expect(check(deltas)).toEqual(check([text]));
        },
      ),
      { numRuns: 1_500 },
    );
  });

  it('names the pages that links lead to', () => {
    expect(check(['[A](/a) and [B](/b)']).cited).toEqual(['a']);
  });

  it('holds a long text without links back for nothing', () => {
    const checker = createLinkChecker(resolve);
    expect(checker.push('plain words').text).toBe('plain words');
    expect(checker.push(`[${'x'.repeat(3_000)}`).text.length).toBeGreaterThan(2_900);
    expect(checker.push(` with`).text).toBe(' with');
  });

  it('is done in the time of a test with whatever a model repeats', { timeout: 60_000 }, () => {
    for (const piece of ['[', '](', '`', '<a ', 'https://', '[x](', '(', '[x]:', '\\', '~~~', '"']) {
      const checker = createLinkChecker(resolve);
      for (let count = 0; count < 2_000; count += 1) checker.push(piece);
      checker.push(piece.repeat(20_000));
      checker.flush();
    }
  });
});
