import { describe, expect, it } from 'vitest';
import { chunkPage } from '../../../../search/build/chunk-page.ts';
import { readSources } from '../../../../search/read/read-sources.ts';
import type { SourcePage } from '../../../../search/read/source-page.ts';
import { fileOf } from '../build.ts';

async function read(files: Record<string, string>) {
  const sources = Object.entries(files).map(([path, text]) => fileOf(path, text));
  const { pages, report, suffix } = await readSources([{ prefix: '', weight: 1, files: sources }], null);
  const full = pages.filter((page): page is SourcePage => 'content' in page);
  return { byPath: Object.fromEntries(full.map((page) => [page.path, page])), layout: report.layout, suffix };
}

it('recognizes Docusaurus: numbers, slugs, categories, versions, languages, admonitions, tabs, partials', async () => {
  const { byPath, layout } = await read({
    'docusaurus.config.js': "module.exports = { presets: [['classic', { docs: { routeBasePath: 'guide' } }]] };",
    'versions.json': '["2.0", "1.0"]',
    'docs/01-start/_category_.json': '{"label": "Get started", "position": 2}',
    'docs/01-start/02-install.md':
      '---\nsidebar_position: 3\n---\nimport Part from \'../parts/_part.mdx\';\n\n# Install\n\n:::tip Careful\n\nDo it.\n\n:::\n\n<Part />\n\n<Tabs><TabItem value="a" label="Linux">\n\napt\n\n</TabItem></Tabs>\n\n[Home](../index.md#top) [Named](../named) [Moved](../moved.md#x) [New](./new.md)\n',
    'docs/parts/_part.mdx': 'Shared words on [this](../moved.md).',
    'docs/index.md': '# Home',
    'docs/named.md': '---\nid: other\n---\n# Named',
    'docs/moved.md': '---\nslug: /elsewhere\n---\n# Moved',
    'versioned_docs/version-2.0/index.md': '# Home 2',
    'versioned_docs/version-1.0/a.md': '# A 1',
    'i18n/fr/docusaurus-plugin-content-docs/version-2.0/a.md': '# A fr',
    'blog/2024-05-06-news.md': '# News',
    'README.md': '# Not published',
  });
  expect(layout).toBe('Docusaurus');
  expect(Object.keys(byPath).sort()).toEqual([
    'blog/2024/05/06/news',
    'fr/guide/a',
    'guide',
    'guide/1.0/a',
    'guide/next',
    'guide/next/elsewhere',
    'guide/next/other',
    'guide/next/start/install',
  ]);
  const page = byPath['guide/next/start/install'];
  expect(page?.metadata).toMatchObject({ title: 'Install', version: 'next', groups: ['Get started'] });
  for (const text of [
    '**Tip: Careful**',
    'Shared words on [this](/guide/next/elsewhere).',
    '**Linux**',
    '[Home](/guide/next#top)',
  ])
    expect(page?.content).toContain(text);
  expect(page?.content).toContain(
    '[Named](/guide/next/other) [Moved](/guide/next/elsewhere#x) [New](/guide/next/start/new)',
  );
  expect(byPath['guide/1.0/a']?.metadata.version).toBe('1.0');
  expect(byPath['fr/guide/a']?.metadata).toMatchObject({ version: '2.0', language: 'fr' });
});

it('leaves links alone that lead out of the source', async () => {
  const { byPath } = await read({
    'docusaurus.config.js': "export default { presets: [['classic', { docs: { path: '.', routeBasePath: '/' } }]] };",
    'a.md': '# A\n\n[License](../LICENSE) and [notes](../README.md).\n',
  });
  expect(byPath['a']?.content).toContain('[License](../LICENSE) and [notes](../README.md).');
});

it('recognizes MkDocs: navigation, admonitions, tabs, snippets, variables', async () => {
  const { byPath, layout } = await read({
    'mkdocs.yml':
      'site_name: !ENV NAME\nnav:\n  - Home: index.md\n  - Guides:\n      - guides/b.md\nplugins: [macros]\nextra: { product: Acme }\n',
    'docs/index.md': '# Home\n\n[B](guides/b.md#x)\n',
    'docs/guides/b.md':
      '## Use { #use }\n\n!!! warning "Hot"\n    Do not touch {{ product }}.\n\n    ```sh\n    cool\n    ```\n\n=== "Linux"\n\n    apt :material-clock-fast:{ .lg .middle } fast\n\n::: acme.Client\n    options:\n      members: true\n\n--8<-- "docs/part.txt.md"\n\nAfter.\n',
    'docs/part.txt.md': 'Shared words.',
    'requirements/README.md': '# Not published',
  });
  expect(layout).toBe('MkDocs');
  expect(Object.keys(byPath).sort()).toEqual(['guides/b', 'index', 'part.txt']);
  expect(byPath.index?.content).toContain('[B](/guides/b#x)');
  expect(byPath['guides/b']).toMatchObject({ order: 1, metadata: { groups: ['Guides'] } });
  for (const text of [
    '## Use {#use}',
    '**Warning: Hot**',
    '\nDo not touch Acme.',
    '\n```sh\ncool\n```',
    '**Linux**',
    '\napt fast\n\n`acme.Client`\n',
    'Shared words.',
    '\nAfter.',
  ])
    expect(byPath['guides/b']?.content).toContain(text);
});

it('reads the blocks of PyMdown Extensions in MkDocs, also inside each other', async () => {
  const { byPath } = await read({
    'mkdocs.yml': 'site_name: Lamps\n',
    'docs/index.md':
      '# Home\n\n/// tip\n\nHold it.\n\n///\n\n/// note | Technical Details\nA lamp is a lamp.\n///\n\n//// tab | Linux, macOS\n\n/// details | More\n    type: note\n    open: True\n\napt\n\n///\n\n////\n\n/// html | div.wide\nWide.\n///\n\n```\n/// tip\n```\n',
  });
  expect(byPath.index?.content.trim().replaceAll(/\n{2,}/g, '\n')).toBe(
    '# Home\n**Tip**\nHold it.\n**Note: Technical Details**\nA lamp is a lamp.\n**Linux, macOS**\n**More**\napt\nWide.\n```\n/// tip\n```',
  );
});

it('recognizes VitePress: languages, containers, code groups, includes', async () => {
  const { byPath, layout } = await read({
    '.vitepress/config.mts': "export default { lang: 'en-US', rewrites: { 'en/:rest*': ':rest*' } }",
    'en/guide/a.md':
      '---\ntitle: A\n---\n# {{ $frontmatter.title }}\n\n::: warning\nHot.\n:::\n\n```js [config.js]\nx\n```\n\n<!--@include: ./b.md-->\n',
    'en/guide/b.md': 'Shared words.',
    'de/guide/a.md': '# A',
  });
  expect(layout).toBe('VitePress');
  expect(Object.keys(byPath).sort()).toEqual(['de/guide/a', 'guide/a', 'guide/b']);
  expect(byPath['guide/a']?.metadata.language).toBe('en');
  expect(byPath['de/guide/a']?.metadata.language).toBe('de');
  for (const text of ['# A', '**Warning**', '**config.js**', '```js\nx', 'Shared words.'])
    expect(byPath['guide/a']?.content).toContain(text);
});

it('recognizes Starlight: languages, slugs, asides', async () => {
  const { byPath, layout } = await read({
    'astro.config.mjs': "import starlight from '@astrojs/starlight'; export default {}",
    'src/content/docs/index.mdx': '# Home',
    'src/content/docs/Guides/First Steps.md': '---\nsidebar: { order: 2 }\n---\n:::note[Look]\nWords.\n:::\n',
    'src/content/docs/fr/index.md': '# Accueil',
    'src/content/docs/a.md': '---\nslug: else/where\n---\n# A',
    'src/pages/other.md': '# Not documentation',
  });
  expect(layout).toBe('Starlight');
  expect(Object.keys(byPath).sort()).toEqual(['else/where', 'fr', 'guides/first-steps', 'index']);
  expect(byPath['guides/first-steps']?.content).toContain('**Note: Look**');
  expect(byPath.fr?.metadata.language).toBe('fr');
});

it('recognizes Hugo: languages, sections, front matter in TOML, shortcodes', async () => {
  const { byPath, layout } = await read({
    'hugo.toml':
      "defaultContentLanguage = 'en'\n[languages.en]\ncontentDir = 'content/en'\n[languages.de]\ncontentDir = 'content/de'\n",
    'content/en/docs/_index.md': '+++\ntitle = "All docs"\n+++\n',
    'content/en/docs/First.md':
      '---\nweight: 3\n---\n{{% alert title="Hot" %}}Careful.{{% /alert %}}\n\n{{< tab "Linux" >}}apt{{< /tab >}}\n\nA {{< glossary_tooltip term_id="lamp" text="lamp" >}} on a {{< glossary_tooltip term_id="table" >}}.\n\n{{</* shown */>}} [x]({{< relref "/docs/b" >}})\n',
    'content/en/docs/bundle/index.md': '+++\ntitle = "B"\ngroups = ["staff"]\nslug = "b"\n+++\nText.',
    'content/de/docs/first.md': '# Eins',
    'layouts/_default/single.html': '<html><body>{{ .Content }}</body></html>',
  });
  expect(layout).toBe('Hugo');
  expect(Object.keys(byPath).sort()).toEqual(['de/docs/first', 'docs', 'docs/b', 'docs/first']);
  expect(byPath.docs?.metadata.title).toBe('All docs');
  expect(byPath['docs/b']).toMatchObject({ restrictedTo: ['staff'], metadata: { title: 'B', language: 'en' } });
  const content = byPath['docs/first']?.content;
  for (const text of [
    '**Alert: Hot**',
    'Careful.',
    '**Linux**',
    'apt',
    'A lamp on a table.',
    '{{< shown >}}',
    '[x](/docs/b)',
  ])
    expect(content).toContain(text);
});

it('recognizes Sphinx: tables of contents, substitutions, MyST, excluded files', async () => {
  const { byPath, layout, suffix } = await read({
    'docs/conf.py': "project = 'Acme'\nversion = '1.2'\nlanguage = 'de'\nexclude_patterns = ['drafts', '_build']\n",
    'docs/index.rst': 'Top\n===\n\n.. toctree::\n   :caption: Guides\n\n   guide/b\n   Named <a>\n',
    'docs/a.md': '# A\n\n```{note}\nLook.\n```\n\n:::{tip} Hot\nWords.\n:::\n\n{ref}`there <x>`\n',
    'docs/guide/b.rst': 'B\n=\n\nThis is |version| of |project|, see :doc:`/a` and :doc:`../index`.\n',
    'docs/drafts/c.rst': 'C\n=\n',
    'README.md': '# Not published',
  });
  expect({ layout, suffix }).toEqual({ layout: 'Sphinx', suffix: '.html' });
  expect(Object.keys(byPath).sort()).toEqual(['a', 'guide/b', 'index']);
  expect(byPath['guide/b']).toMatchObject({ order: 1, metadata: { groups: ['Guides'], language: 'de' } });
  expect(byPath['guide/b']?.content).toContain('This is 1.2 of Acme, see [A](/a) and [Top](/index).');
  for (const text of ['**Note**\n\nLook.', '**Tip: Hot**', 'Words.', '\nthere'])
    expect(byPath.a?.content).toContain(text);
});

it('shows the titles of the sections and documents that references of Sphinx name', async () => {
  const { byPath } = await read({
    'docs/conf.py': '',
    'docs/index.rst':
      'Top\n===\n\nSee :ref:`more_here`, :ref:`Own Label`, :ref:`these words <MORE_HERE>`, :ref:`genindex`, :ref:`no-where`,\n:doc:`/guide/b`, :doc:`guide/m`, :doc:`its page <guide/b>`, :doc:`guide/none` and :ref:`in-m`.\n\n.. _own label:\n\nOwn section\n-----------\n',
    'docs/guide/b.rst':
      '====\n``B``\n====\n\n.. _first:\n.. _more_here:\n\nMore *here*\n-----------\n\n.. _list:\n\n- No title\n',
    'docs/guide/m.md': '# Of MyST\n\n(in-m)=\n## Inner\n',
  });
  expect(byPath.index?.content).toContain(
    'See [More *here*](/guide/b#more-here), [Own section](#own-label), [these words](/guide/b#more-here), Index, no where,\n[`B`](/guide/b), [Of MyST](/guide/m), [its page](/guide/b), [none](/guide/none) and [Inner](/guide/m#in-m).',
  );
  expect(byPath['guide/b']?.content).toContain('## <a id="first"></a>More *here*\n');
});

it.each([
  [
    'Sphinx',
    {
      'conf.py': '',
      'index.rst': 'Top\n===\n\nSee :ref:`a list <my-list>`.\n\n.. _my list:\n.. _my-list:\n\n- Item\n',
    },
    ['top', 'my-list', 'id1'],
    'See [a list](#my-list).',
  ],
  ['MyST', { 'conf.py': '', 'index.md': '# Top\n\n(my-words)=\nWords.\n' }, ['top', 'my-words'], 'Words.'],
  [
    'Antora',
    {
      'antora.yml': 'name: ROOT\nversion: ~\n',
      'modules/ROOT/pages/index.adoc':
        '= Top\n\n[[block]]\nWords and [[word]]word.\n\n[#code]\n----\nx\n----\n\n[[rows]]\n.Caption\n|===\n|a\n|===\n',
    },
    ['top', 'block', 'word', 'code', 'rows'],
    'Table 1. Caption',
  ],
  [
    'MkDocs',
    { 'mkdocs.yml': 'nav: []', 'docs/index.md': '# Top\n\nWords.\n{: .big #words }\n\nMore [](){ #more } words.\n' },
    ['top', 'words', 'more'],
    'Words.',
  ],
  [
    'Website',
    {
      'index.html':
        '<main id="main"><section id="top"><span id="old"></span><h1>Top</h1><dl><dt id="a.B">B</dt><dd>Class</dd></dl><p><a name="here"></a>H <code id="c">c</code></p><pre id="id3"><a id="line-1">x</a></pre></section></main>',
    },
    ['top', 'old', 'a.B', 'here', 'c'],
    '# <a id="old"></a>Top',
  ],
])('keeps the anchors of text that is no heading: %s', async (_name, files: Record<string, string>, anchors, text) => {
  const { content = '', metadata } = (await read(files)).byPath.index ?? {};
  expect(content).toContain(text);
  expect(chunkPage(content, metadata?.title ?? '').anchors).toEqual(anchors);
});

it('shows no title of a page for groups to readers of another page', async () => {
  const { byPath } = await read({
    'conf.py': '',
    'index.rst': 'Top\n===\n\nSee :doc:`b`, :doc:`c`, :ref:`d`.\n',
    'b.rst': ':groups: staff\n\n.. _d:\n\nWalrus\n======\n',
    'c.md': '---\ngroups: [staff]\n---\n# Walrus\n',
  });
  expect(byPath.b?.restrictedTo).toEqual(['staff']);
  expect(byPath.index?.content).toContain('See [b](/b), [c](/c), d.');
});

it('recognizes Antora: components, modules, resource ids, attributes', async () => {
  const { byPath, layout, suffix } = await read({
    'antora.yml':
      "name: acme\ntitle: Acme\nversion: '2.1'\nasciidoc: { attributes: { product: Acme@ } }\nnav: [modules/ROOT/nav.adoc]\n",
    'modules/ROOT/nav.adoc': '.Guides\n* xref:index.adoc[Start]\n** xref:cli:run.adoc[Run]\n',
    'modules/ROOT/pages/index.adoc':
      '= Start\n\nWith {product}. See xref:cli:run.adoc#fast[Run it], xref:other::far-away.adoc#x[], xref:1.0@other::b.adoc[B] and xref:attachment$a.pdf[PDF].\n\ninclude::partial$note.adoc[]\n',
    'modules/ROOT/partials/note.adoc': 'Shared words.\n',
    'modules/cli/pages/run.adoc': '= Run\n\ninclude::ROOT:partial$note.adoc[]\n',
  });
  expect({ layout, suffix }).toEqual({ layout: 'Antora', suffix: '.html' });
  expect(Object.keys(byPath).sort()).toEqual(['acme/2.1/cli/run', 'acme/2.1/index']);
  expect(byPath['acme/2.1/cli/run']).toMatchObject({
    order: 1,
    metadata: { version: '2.1', groups: ['Guides', 'Start'] },
  });
  for (const text of ['With Acme.', '[Run it](/acme/2.1/cli/run#fast), far away, B and PDF.', 'Shared words.'])
    expect(byPath['acme/2.1/index']?.content).toContain(text);
  expect(byPath['acme/2.1/cli/run']?.content).toContain('Shared words.');
});

it('recognizes GitBook: summary, hints, tabs, includes', async () => {
  const { byPath, layout } = await read({
    '.gitbook.yaml': 'root: ./docs/\n',
    'docs/SUMMARY.md':
      '# Summary\n\n* [Home](README.md)\n\n## Guides\n\n* [Use](use/README.md)\n  * [More](use/more.md)\n',
    'docs/README.md': '# Home',
    'docs/use/README.md':
      '# Use\n\n{% hint style="info" %}\nLook.\n{% endhint %}\n\n{% tabs %}\n{% tab title="Linux" %}\napt\n{% endtab %}\n{% endtabs %}\n\n{% include "../.gitbook/includes/part.md" %}\n\n[More](more.md)\n',
    'docs/use/more.md': '# More',
    'docs/.gitbook/includes/part.md': 'Shared words.',
  });
  expect(layout).toBe('GitBook');
  expect(Object.keys(byPath).sort()).toEqual(['index', 'use', 'use/more']);
  expect(byPath['use/more']?.metadata.groups).toEqual(['Guides', 'Use']);
  for (const text of ['**Info**\n\nLook.', '**Linux**\n\napt', 'Shared words.', '[More](/use/more)'])
    expect(byPath.use?.content).toContain(text);
  expect(byPath.use?.content).not.toContain('{%');
});

describe('Mintlify', () => {
  it.each(['docs.json', 'mint.json'])('is recognized by %s, with its variables', async (name) => {
    const { byPath, layout } = await read({
      [name]: '{"navigation": {"pages": ["a"]}, "variables": {"product": "Acme"}}',
      'a.mdx': '# A\n\n{{product}} and {{other}}.\n',
    });
    expect(layout).toBe('Mintlify');
    expect(byPath.a?.content).toContain('Acme and {{other}}.');
  });
});
