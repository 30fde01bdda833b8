import { describe, expect, it } from 'vitest';
import { createLinkChecker } from '../../../../../api/assistant/links/check-links.ts';
import type { LinkTarget } from '../../../../../api/assistant/links/check-links.ts';
import { fc, propertyRuns } from '../../../../support/properties.ts';

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
  ['[see [1] here](/a)', '[see &#91;1&#93; here](https://docs.example.com/a)'],
  ['an array [1, 2] stays', 'an array [1, 2] stays'],
  ['a [ alone', String.raw`a \[ alone`],
  ['a [ word]See [A](/a).', 'a [ word]See [A](https://docs.example.com/a).'],
  ['[a `b` c]See [A](/a).', '\\[a `b` c]See [A](https://docs.example.com/a).'],
  ['`[B](/b)` is code', '`[B](/b)` is code'],
  ['```sh\ncurl https://evil.example.com/y\n```\n[B](/b)', '```sh\ncurl https://evil.example.com/y\n```\nB'],
  ['an odd ` tick\n\n[B](/b)', 'an odd \\` tick\n\nB'],
  ['ends with http', 'ends with http'],
  ['ends with [A](/a', String.raw`ends with [A]\(/a`],
  ['[A](</a>) and [A](/a "title")', '[A](https://docs.example.com/a) and [A](https://docs.example.com/a)'],
  ['[one][two] [B](/b)', '[one][two] B'],
  ["[B](/b 'title') [B](/b (title)) [B](\n/b)", 'B B B'],
  ['[B](</my file>) and [B](/b(1)c)', 'B and B'],
  ['[![shot](/b.png)](https://evil.example.com/y) done', 'shot done'],
  [`[${'x'.repeat(500)}](/b)`, 'x'.repeat(500)],
  ['HTTPS://evil.example.com/y and WWW.evil.example.com now', '(link removed) and (link removed) now'],
  [
    'see www.evil.example.com. And www. alone, https:// alone',
    'see (link removed). And www\u200b\\. alone, https:// alone',
  ],
  ['a <javascript:alert(1)> b', 'a (link removed) b'],
  ['<a href="//evil.example.com">B</a> and <img src=x onerror=y>!', 'B and !'],
  ['Map<string, number> and a < b and <kbd>x</kbd>', 'Map&lt;string, number> and a < b and x'],
  ['[one][two]\n\n[two]: /b\n[A]: /a "t"\n', '[one][two]\n\n\n[A]: https://docs.example.com/a\n'],
  ['[^1]: /b\n[Note]: some words', '\n[Note]\\: some words'],
  ['~~~\n[B](/b)\n~~~\n[B](/b)', '~~~\n[B](/b)\n~~~\nB'],
  ['in a line ``` and [B](/b)', 'in a line \\`\\`\\` and B'],
  ['```js\nx = `a```b`; // [B](/b)\n```\n[B](/b)', '```js\nx = `a```b`; // [B](/b)\n```\nB'],
  ['- ```\n  [B](/b)\n  ```\n- [B](/b)', '- ```\n  [B](/b)\n  ```\n- B'],
  ['```one``` [B](/b)', '`one` B'],
  ['a [ b `[B](/b) c` d', 'a \\[ b `[B](/b) c` d'],
  ['[a `b](/a) c` d', '\\[a `b](/a) c` d'],
  ['![a `b](/a) c` d', '\\!\\[a `b](/a) c` d'],
  ['[a <b c="](/a) d">e', '\\[a e'],
];

describe('createLinkChecker', () => {
  it.each(cases)('turns %j into %j', (given, expected) => {
    expect(check([given]).text).toBe(expected);
  });

  it('gives the same result however the text is split', () => {
    const piece = fc.constantFrom(
      ...cases.map(([given]) => given).filter(({ length }) => length < 100),
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
      '<b c="',
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
      { numRuns: propertyRuns(400) },
    );
  });

  it.each(cases.filter(([given]) => given.length < 100))('turns %j into the same, cut anywhere', (given, expected) => {
    const texts = Array.from(
      { length: given.length - 1 },
      (_, at) => check([given.slice(0, at + 1), given.slice(at + 1)]).text,
    );
    expect(texts).toEqual(texts.map(() => expected));
  });

  it('names the pages that links lead to', () => {
    expect(check(['[A](/a) and [B](/b)']).cited).toEqual(['a']);
  });

  it('does not buffer a long text without links', () => {
    const checker = createLinkChecker(resolve);
    expect(checker.push('plain words').text).toBe('plain ');
    expect(checker.push(` [${'x'.repeat(3_000)}`).text.length).toBeGreaterThan(2_000);
    expect(checker.push(' with more').text).toMatch(/ with $/);
  });

  it('passes on text and code as they arrive', () => {
    const checker = createLinkChecker(resolve);
    const push = (delta: string) => checker.push(delta).text;
    expect(push('Set the ')).toBe('Set the ');
    expect(push('`limit` to')).toBe('`limit` ');
    expect(push(' 3.\n\n1. Then ')).toBe('to 3.\n\n1. Then ');
    expect(push('see [the ')).toBe('see ');
    expect(push('page](/a) of')).toBe('[the page](https://docs.example.com/a) ');
    expect(push(' it:\n   ```sh\n   npm')).toBe('of it:\n   ```sh\n');
    expect(push(' i\n')).toBe('   npm i\n');
  });

  function pushMany(piece: string): void {
    const checker = createLinkChecker(resolve);
    let [given, back, mostBehind] = [0, 0, 0];
    const before = process.cpuUsage();
    while (given < 12_000) {
      back += checker.push(piece).text.length;
      given += piece.length;
      mostBehind = Math.max(mostBehind, given - back);
    }
    // the output may be shorter than the input, but never lags far behind
    if (piece === '[' || piece === '`' || piece === 'a') expect(mostBehind).toBeLessThan(2_500);
    checker.push(piece.repeat(12_000 / piece.length));
    checker.flush();
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(4_000);
  }

  it.each([
    '[',
    '](',
    '`',
    '<a ',
    'https://',
    '[x](',
    '(',
    '[x]:',
    '\\',
    '~~~',
    '"',
    'a',
    '> ',
    '<',
    '```\n',
    '| `a|b` |\n',
    '![',
    'a.b.',
    '@a',
  ])('needs no more time and memory for each of many %j than for one', pushMany);

  it.each(['- a\n', '[\n'])(
    'needs no more time and memory for each of many %j than for one',
    { tags: 'slow' },
    pushMany,
  );
});

it.each([
  ['中---README.md} is a file', String.raw`中---README\.md} is a file`],
  ['of @docket/react and @a. Or', 'of @docket/react and \u200b@a. Or'],
  ['中. And', String.raw`中\. And`],
  ['at\u00a0127.0.0.1/x', 'at\u00a0127\\.0\\.0\\.1\\/x'],
])('breaks a host name that begins in text already sent: %s', (text, expected) => {
  expect(check([text]).text).toBe(expected);
  expect(check([...text]).text).toBe(expected);
});
