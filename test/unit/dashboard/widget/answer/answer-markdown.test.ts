import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { AnswerMarkdown } from '../../../../../dashboard/widget/answer/answer-markdown.tsx';
import { highlighted, hrefOf, passageOfSource } from '../../../../../dashboard/widget/addresses.ts';
import { defaultLabels } from '../../../../../dashboard/widget/labels.ts';

const target = { pagesUrl: 'https://docs.example/guides/' };
const rendered = (text: string) =>
  renderToStaticMarkup(createElement(AnswerMarkdown, { text, target, labels: defaultLabels }));

describe('the Markdown of an answer', () => {
  it('becomes elements', () => {
    expect(
      rendered('# A\n\n1. **b** `c`\n\n| d | e |\n| - | - |\n| f | [g](/h) |\n\n```sh\nls\n```'),
    ).toMatchInlineSnapshot(
      `"<div class="docket-markdown" dir="auto"><h3>A</h3><ol start="1"><li><p><strong>b</strong> <code dir="ltr">c</code></p></li></ol><div class="docket-table" role="group" aria-label="Table" tabindex="0"><table><tbody><tr><th scope="col">d</th><th scope="col">e</th></tr><tr><td>f</td><td><a href="https://docs.example/h" target="_blank" rel="noopener noreferrer nofollow">g</a></td></tr></tbody></table></div><div class="docket-code"><pre dir="ltr" tabindex="0"><code>ls</code></pre><button type="button" class="docket-button">Copy code</button><span class="docket-hidden" role="status"></span></div></div>"`,
    );
  });

  it.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '![x](https://evil.example/x.png)',
    '[x](javascript:alert(1))',
    '[x](java&#x73;cript:alert(1))',
    '[x](data:text/html,x)',
    '[x](vbscript:x)',
    '[x][y]\n\n[y]: javascript:alert(1)',
    '<javascript:alert(1)>',
    '[x](\u0001javascript:alert(1))',
  ])('runs and loads nothing: %s', (text) => {
    const html = rendered(text);
    expect(html).not.toMatch(/<(?!\/?(?:div|p|a|span)\b)/);
    const tags = html.match(/<[^>]*>/g)!.join('');
    expect(tags).not.toMatch(/href="(?!https:\/\/)|\son\w+=|src=/);
  });

  it('marks what its sources do not contain, in the sentence that says so', () => {
    const text = 'The default is 9, and 19 is not. Set `maxRetries`.\n\n```js\nmaxRetries = 9;\n```\n\nOr 9.';
    const marks = [
      { text: 'The default is 9, and 19 is not.', passages: [], unsupported: ['9'] },
      { text: 'Set `maxRetries`.', passages: [], unsupported: ['maxRetries'] },
      { text: '```js\nmaxRetries = 9;\n```', passages: [], unsupported: ['maxRetries', '9'] },
      { text: 'A sentence that is not there.', passages: [], unsupported: ['Or'] },
    ];
    const html = renderToStaticMarkup(createElement(AnswerMarkdown, { text, marks, target, labels: defaultLabels }));
    const mark = (fact: string) =>
      `<mark class="docket-unsupported" title="Marked: not found in the sources">${fact}</mark>`;
    expect(html).toContain(
      `The default is ${mark('9')}, and 19 is not. Set <code dir="ltr">${mark('maxRetries')}</code>.`,
    );
    expect(html).toContain(`${mark('maxRetries')} = ${mark('9')};`);
    expect(html).toContain('<p>Or 9.</p>');
  });

  it('links the end of each sentence to the passages behind it', () => {
    const passageAt = (url: string, quote: string | null) => ({ url, title: `At ${url}`, quote });
    const text =
      '## Limit\n\nSet *it*. See [B](/b) and\nwait. **Done.**\n\n- An item (`x`).\n\n| head |\n| - |\n| cell |\n';
    const marks = [
      { text: '## Limit', passages: [passageAt('/a#x', null)], unsupported: [] },
      { text: 'Set *it*.', passages: [passageAt('/a#x', 'Set it to **nine**.')], unsupported: [] },
      { text: 'See [B](/b) and\nwait.', passages: [passageAt('/b', null)], unsupported: ['wait'] },
      { text: '**Done.**', passages: [passageAt('/a', null)], unsupported: [] },
      { text: '- An item (`x`).', passages: [passageAt('/c', null), passageAt('/a', null)], unsupported: [] },
      { text: '| head |', passages: [passageAt('/c', null)], unsupported: [] },
      { text: '| cell |', passages: [passageAt('javascript:x', null)], unsupported: [] },
    ];
    const sources = [
      { url: '/b', title: 'B' },
      { url: '/a#y', title: 'A' },
    ];
    const html = renderToStaticMarkup(
      createElement(AnswerMarkdown, { text, marks, sources, target, labels: defaultLabels }),
    );
    const shown = html.replace(
      /<(a|span) class="docket-citation"(?: aria-label="\d\. Source of this sentence: At ([^"]*)" title="[^"]*" href="https:\/\/docs\.example([^"]*)"[^>]*)?>(\d)<\/\1>/g,
      (_link, _tag, url = '', href = '', number) => `{${number} ${url} ${href}}`,
    );
    expect(shown).toContain('<h3>Limit</h3><p>Set <em>it</em>.{2 /a#x /a#x:~:text=Set%20it%20to%20nine.} See <a');
    expect(shown).toMatch(/ and\n<mark[^>]*>wait<\/mark>\.\{1 \/b \/b\} <strong>Done\.<\/strong>\{2 \/a \/a\}<\/p>/);
    expect(shown).toContain('An item (<code dir="ltr">x</code>).{3 /c /c}{2 /a /a}</p></li>');
    expect(shown).toContain('<th scope="col">head</th></tr><tr><td>cell{4  }</td>');
  });

  it('shows text that is nested too deeply', () => {
    expect(rendered(`${'> '.repeat(500)}deep`)).toContain('deep');
    expect(rendered(`${'['.repeat(2_000)}deep`)).toContain('deep');
  });
});

it.each([
  ['/a', 'https://docs.example/a'],
  ['b#c', 'https://docs.example/guides/b#c'],
  ['http://other.example/', 'http://other.example/'],
  ['mailto:a@b.example', 'mailto:a@b.example'],
  ['javascript:void 0', null],
  [' javascript:void 0', null],
  ['blob:https://docs.example/1', null],
  ['https://', null],
])('links %s to %s', (address, href) => {
  expect(hrefOf(address, target.pagesUrl)).toBe(href);
});

it('highlights a passage by its first and last words', () => {
  expect(highlighted('https://docs.example/a#b', '# Head\n\nPress the **small** button, then-wait.')).toBe(
    'https://docs.example/a#b:~:text=Press%20the%20small%20button%2C%20then%2Dwait.',
  );
  const long = 'One two three four five six seven eight nine ten eleven twelve.';
  expect(highlighted('https://docs.example/a', long)).toBe(
    'https://docs.example/a#:~:text=One%20two%20three%20four%20five,eight%20nine%20ten%20eleven%20twelve.',
  );
  expect(highlighted('https://docs.example/a', '```\ncode\n```')).toBe('https://docs.example/a');
});

it('finds the passage of a source by its page and section', () => {
  const passages = [
    { path: 'guides/b', anchor: null, content: 'other page' },
    { path: 'guides/a', anchor: null, content: 'beginning' },
    { path: 'guides/a', anchor: 'run-it', content: 'section' },
    { path: 'index', anchor: null, content: 'home' },
  ];
  const contentOf = (url: string) => passageOfSource(url, passages)?.content ?? null;
  expect(contentOf('https://docs.example/v2/guides/a#run-it')).toBe('section');
  expect(contentOf('https://docs.example/guides/a/')).toBe('beginning');
  expect(contentOf('https://docs.example/guides/a.html')).toBe('beginning');
  expect(contentOf('https://docs.example/guides/a#gone')).toBeNull();
  expect(contentOf('https://docs.example/guides/c')).toBeNull();
  expect(contentOf('https://docs.example/')).toBe('home');
});
