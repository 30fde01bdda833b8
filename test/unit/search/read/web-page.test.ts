import { describe, expect, it } from 'vitest';
import { readWebPage } from '../../../../search/read/formats/html.ts';

/** The Markdown of a published page, whose main content is given. */
function bodyOf(main: string): string | undefined {
  const page = `<!doctype html><html lang="en"><body><main>${main}</main></body></html>`;
  return readWebPage(page, new URL('https://docs.test/page/'))?.page?.body;
}

describe('a published page', () => {
  it('keeps headings that have the class of their anchor (Docusaurus)', () => {
    const main = `<h1>Lamps</h1>
      <h2 class="anchor anchorTarget_x" id="pairing">Pairing<a href="#pairing" class="hash-link">#</a></h2><p>Hold it.</p>`;
    expect(bodyOf(main)).toBe('# Lamps\n\n## Pairing\n\nHold it.');
  });

  it('keeps the tabs that are not open (Starlight, Docusaurus), and nothing else that is hidden', () => {
    const main = `<p>Install:</p><div role="tabpanel"><pre><code>npm add lamp</code></pre></div>
      <div role="tabpanel" hidden><pre><code>yarn add lamp</code></pre></div><div hidden>secret menu</div>`;
    expect(bodyOf(main)).toBe('Install:\n\n```\nnpm add lamp\n```\n\n```\nyarn add lamp\n```');
  });

  it('has no comments, and the names of tabs apart (VitePress)', () => {
    const main = `<!--[--><h1>Lamps <!--[--><span>1.2</span><!--]--></h1><!---->
      <div class="tabs"><input type="radio"><label>npm</label><input type="radio"><label>yarn</label></div>
      <div class="language-sh"><button>Copy</button><span class="lang">sh</span><pre><code>npm add lamp</code></pre></div>`;
    expect(bodyOf(main)).toBe('# Lamps 1.2\n\nnpm yarn\n\n```sh\nnpm add lamp\n```');
  });

  it('leaves links without words out, such as the pencil of MkDocs Material', () => {
    const main = `<a href="/edit/page.md" title="Edit this page"> <svg></svg> </a><h1>Lamps</h1>
      <p><a href="big.png"><img src="small.png" alt="A lamp"></a></p>`;
    expect(bodyOf(main)).toBe('# Lamps\n\n[A lamp](https://docs.test/page/big.png)');
  });

  it('leaves the link to its source out (Antora)', () => {
    const main = `<aside class="sidebar"><a href="file:///a.adoc"><svg></svg> Edit this Page\n </a></aside>
      <h1>Lamps</h1><p>Press <a href="/edit">Edit this page now</a>.</p>`;
    expect(bodyOf(main)).toBe('# Lamps\n\nPress [Edit this page now](https://docs.test/edit).');
  });

  it.each([
    ['Sphinx', '<div class="highlight-python notranslate"><div class="highlight"><pre>@</pre></div></div>', 'python'],
    ['MkDocs', '<div class="language-yaml highlight"><pre><span></span><code>@</code></pre></div>', 'yaml'],
    ['VitePress', '<div class="language-js"><pre class="shiki"><code>@</code></pre></div>', 'js'],
    ['Starlight', '<pre data-language="astro"><code>@</code></pre>', 'astro'],
    ['GitHub', '<div class="highlight highlight-source-shell"><pre>@</pre></div>', 'shell'],
    ['the code itself', '<div class="language-js"><pre><code class="language-ts">@</code></pre></div>', 'ts'],
    ['nothing', '<div class="highlight-default"><div class="highlight"><pre>@</pre></div></div>', ''],
  ])('names the language of a code block by %s', (_, block, language) => {
    expect(bodyOf(block.replace('@', 'lamp = 1\n'))).toBe(`\`\`\`${language}\nlamp = 1\n\`\`\``);
  });
});
