import { expect, it } from 'vitest';
import { readThread } from '../../../../search/read/formats/thread.ts';

it.each([
  [
    false,
    'It&#39;s &lt;b&gt; of `&lt;`<br>then H<sub>2</sub>O &amp;lt;\n\n<details><summary>More &amp; more</summary>\n\nInner.\n\n</details>',
  ],
  [
    true,
    '<p>It&#39;s &lt;b&gt; of <code>&amp;lt;</code> then H<sub>2</sub>O &amp;lt;</p><p>More &amp; more</p><p>Inner.</p>',
  ],
])('reads posts without character references and HTML, which is %s', (isHtml, question) => {
  const { body } = readThread({ url: 'https://a.example/1', title: 'A', isHtml, question, replies: [] });
  expect(body).toBe("It's \\<b> of `&lt;` then H2O \\&lt;\n\nMore & more\n\nInner.");
});
