import { expect, it } from 'vitest';
import { readPages } from '../../../../search/read/read-pages.ts';
import { buildChanged, buildFull, expectSame } from '../build-changed.ts';
import { fileOf } from '../build.ts';

async function read(files: Record<string, string>) {
  const pages = await readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));
  return Object.fromEntries(pages.map((page) => [page.path, page]));
}

function catalog(messages: Record<string, string>, comment = ''): string {
  const entries = Object.entries(messages).map(
    ([id, text]) => `${comment}msgid ${JSON.stringify(id)}\nmsgstr ${JSON.stringify(text)}\n`,
  );
  return ['msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n', ...entries].join('\n');
}

const project = {
  'doc/conf.py': "project = 'Acme'\nlocale_dirs = ['../locale/']\ngettext_compact = False\n",
  'doc/index.rst':
    'Lamps\n=====\n\n.. toctree::\n   :caption: Guides\n\n   guide/b\n   guide/c\n\nSee :doc:`guide/b`, :doc:`/guide/c` and `Basics`_.\n\nBasics\n------\n\nWords.\n',
  'doc/guide/b.rst':
    'Lamps on *walls*\n================\n\nTake a\nlamp_ and run::\n\n   on\n\n- One\n  item.\n\n.. note:: Mind ``it``.\n\n.. include:: ../part.inc\n\nTerm\n  What it is.\n\n| First\n| Second\n\n.. rubric:: Others\n\nKept as it is.\n\n.. _lamp: https://a.b/lamp\n',
  'doc/guide/c.rst': 'Other\n=====\n\nWords.\n\n:doc:`b`\n',
  'doc/part.inc': 'A part.\n',
  'locale/de/LC_MESSAGES/index.po': catalog({
    Lamps: 'Lampen',
    Guides: 'Anleitungen',
    'See :doc:`guide/b`, :doc:`/guide/c` and `Basics`_.': 'Siehe :doc:`guide/b`, :doc:`/guide/c` und `Basics`_.',
    Basics: 'Grundlagen',
    'Words.': '',
  }),
  'locale/de/LC_MESSAGES/guide/b.po': catalog({
    'Lamps on *walls*': 'Lampen an *Wänden*',
    'Take a lamp_ and run::': 'Nimm eine lamp_ und starte::',
    'One item.': 'Ein Punkt.',
    'Mind ``it``.': 'Achte auf ``it``.',
    'A part.': 'Ein Teil.',
    Term: 'Begriff',
    'What it is.': 'Was es ist.',
    First: 'Erstens',
    Second: 'Zweitens',
    Others: 'Weitere',
  }),
  'locale/de/LC_MESSAGES/guide/c.po': catalog({ Other: '', 'Words.': 'Wörter.', ':doc:`b`': '' }),
};

it('has the pages that catalogs of Sphinx translate, block by block', async () => {
  const pages = await read(project);
  expect(Object.keys(pages).sort()).toEqual(['de/guide/b', 'de/index', 'guide/b', 'guide/c', 'index']);
  expect(pages['de/guide/b']).toMatchObject({
    metadata: { title: 'Lampen an *Wänden*', language: 'de', groups: ['Anleitungen'] },
    boost: 1,
  });
  expect(pages['de/guide/b']?.content).toBe(
    '# Lampen an *Wänden* {#lamps-on-walls}\n\nNimm eine [lamp](https://a.b/lamp) und starte:\n\n```\non\n```\n\n- Ein Punkt.\n\n**Note:**\nAchte auf `it`.\n\nEin Teil.\n\nBegriff\n\nWas es ist.\n\nErstens\nZweitens\n\n**Weitere**\n\nKept as it is.',
  );
  expect(pages['guide/b']).toMatchObject({ metadata: { language: 'en', groups: ['Guides'] } });
});

it('shows a page in the languages into which less than half of it is translated', async () => {
  const pages = await read(project);
  expect(pages['guide/c']).toMatchObject({ metadata: { language: 'en', shownIn: ['de'] } });
  expect(pages.index?.metadata).not.toHaveProperty('shownIn');
});

it('links a translated page to translated ones, by their titles, and sorts it after the originals', async () => {
  const pages = await read(project);
  expect(pages['de/index']?.content).toContain(
    'Siehe [Lampen an *Wänden*](/de/guide/b), [Other](/guide/c) und [Basics](#basics).\n\n## Grundlagen {#basics}\n\nWords.',
  );
  const order = ['index', 'guide/b', 'guide/c', 'de/index', 'de/guide/b'].map((path) => pages[path]?.order);
  expect(order).toEqual(order.toSorted((a, b) => Number(a) - Number(b)));
});

it.each([
  ['the first folder', '', 'guide'],
  ['one domain', "gettext_compact = 'docs'\n", 'docs'],
])('reads the catalog of %s, whose messages name their documents', async (_name, setting, domain) => {
  const pages = await read({
    'conf.py': setting,
    'index.rst': 'Top\n===\n',
    'guide/a.rst': 'One\n===\n\nTwo.\n',
    'guide/b.rst': 'One\n===\n\nThree.\n\nFour.\n',
    [`locales/zh_CN/LC_MESSAGES/${domain}.po`]:
      catalog({ One: '一' }, '#: ../guide/a.rst:1 ../guide/b.rst:1\n') +
      catalog({ 'Two.': '二' }, '#: ../guide/a.rst:3\n').replace(/^[^]*?\n\n/, '\n') +
      catalog({ 'Three.': '三', 'Four.': '四' }, '#, fuzzy\n#: ../guide/b.rst:3\n').replace(/^[^]*?\n\n/, '\n'),
    'locales/fr/LC_MESSAGES/guide.po': 'msgid "One"\nwords',
  });
  expect(pages['zh-cn/guide/a']).toMatchObject({ content: '# 一 {#one}\n\n二', metadata: { language: 'zh-CN' } });
  expect(Object.keys(pages)).not.toContain('zh-cn/guide/b');
  expect(pages.index?.metadata.shownIn).toEqual(['zh-CN']);
});

it('translates headings, paragraphs, items and cells of MyST', async () => {
  const pages = await read({
    'conf.py': "language = 'en'\n",
    'index.md':
      '---\ntitle: Top\n---\n# A *lamp*\n\nTwo\nlines.\n\n- [x] Done\n- Item\n  of two.\n\n> Said\n> so.\n\n| Name | Value |\n| --- | --- |\n| Watts | 5 |\n\n```sh\nTwo\nlines.\n```\n\n:::{note} Mind\nItem of two.\n:::\n\n[](other.md)\n',
    'other.md': '# Other\n\nWords.\n',
    'locales/de/LC_MESSAGES/index.po': catalog({
      'A *lamp*': 'Eine *Lampe*',
      'Two lines.': 'Zwei Zeilen.',
      Done: 'Erledigt',
      'Item of two.': 'Punkt von zweien.',
      'Said so.': 'So gesagt.',
      Name: 'Name',
      Watts: 'Watt',
      Mind: 'Achtung',
    }),
    'locales/de/LC_MESSAGES/other.po': catalog({ Other: 'Andere', 'Words.': 'Wörter.' }),
  });
  expect(pages['de/index']?.content.trim().replaceAll(/\n{2,}/g, '\n')).toBe(
    '# Eine *Lampe* {#a-lamp}\nZwei Zeilen.\n- [x] Erledigt\n- Punkt von zweien.\n> So gesagt.\n| Name | Value |\n| --- | --- |\n| Watt | 5 |\n```sh\nTwo\nlines.\n```\n**Note: Achtung**\nPunkt von zweien.\n[Andere](/de/other)',
  );
});

it('translates the descriptions of images', async () => {
  const pages = await read({
    'conf.py': '',
    'index.rst': 'Top\n===\n\n.. image:: a.png\n   :alt: A lamp\n\n.. figure:: b.png\n   :alt: Unknown\n\n   Shown.\n',
    'other.md':
      '# Top\n\n![A lamp](a.png)\n\n- ![Unknown](b.png) ![A lamp](c.png)\n\n```{image} d.png\n:alt: A lamp\n```\n',
    ...Object.fromEntries(
      ['index', 'other'].map((name) => [
        `locales/de/LC_MESSAGES/${name}.po`,
        catalog({ Top: 'Oben', 'A lamp': 'Eine Lampe', 'Shown.': 'Gezeigt.' }),
      ]),
    ),
  });
  expect(pages['de/index']?.content).toBe('# Oben {#top}\n\nEine Lampe\n\nUnknown\n\nGezeigt.');
  expect(pages['de/other']?.content.trim()).toBe(
    '# Oben {#top}\n\n![Eine Lampe](a.png)\n\n- ![Unknown](b.png) ![Eine Lampe](c.png)\n\nEine Lampe',
  );
});

it('leaves out the translations of pages that do not exist, and does not replace pages of the project', async () => {
  const pages = await read({
    'conf.py': '',
    'index.rst': 'Top\n===\n',
    'de/index.rst': 'Eigene\n======\n',
    'locales/de/LC_MESSAGES/index.po': catalog({ Top: 'Oben' }),
    'locales/de/LC_MESSAGES/gone.po': catalog({ Gone: 'Weg' }),
  });
  expect(Object.values(pages).map(({ path, metadata: { title } }) => `${path} ${title}`)).toEqual([
    'de/index Eigene',
    'index Top',
  ]);
});

it.each([
  [
    'a text',
    'rst_prolog = """\n.. |lamp| replace:: the *lamp*\n.. _site: https://a.b/\n"""\nrst_epilog = \'The end.\'\n',
  ],
  [
    'a raw text',
    "rst_prolog = r'''\n.. |lamp| replace:: the *lamp*\n'''\nrst_epilog = '\\n.. _site: https://a.b/\\n\\nThe end.'\n",
  ],
  [
    'a filled-in text',
    'name = \'lamp\'\nrst_epilog = f"""\n.. |{name}| replace:: the *{name}*\n\n.. include:: /links.txt\n\n"""\n',
  ],
])('reads %s around all pages of reStructuredText', async (_name, config) => {
  const pages = await read({
    'conf.py': config,
    'index.rst': ':keywords: glow\n\nTop\n===\n\nTake |lamp| from site_.\n',
    'links.txt': '.. _site: https://a.b/\n\nThe end.\n',
    'm.md': '# M\n\n|lamp|\n',
  });
  expect(pages.index).toMatchObject({
    content: '# Top\n\nTake the *lamp* from [site](https://a.b/).\n\nThe end.',
    metadata: { keywords: ['glow'] },
  });
  expect(pages.m?.content).toContain('|lamp|');
});

it.each([
  ['many forms of one message', 'msgid "a"\n'.concat('msgstr[0] "b"\n'.repeat(140_000))],
  ['many entries of many forms', 'msgid "a"\n'.concat('msgstr[0] "b"\n'.repeat(3000), '\n').repeat(40)],
  ['many places', `#:${' a'.repeat(900_000)}\nmsgid "a"\nmsgstr "b"\n`],
  ['many comments', `msgid "a"\nmsgstr "b"\n\n${'# \n'.repeat(600_000)}`],
  ['many blank lines', '\n \n'.repeat(600_000)],
])('reads a catalog with %s in good time', async (_name, text) => {
  const start = process.cpuUsage();
  await read({ 'conf.py': '', 'index.rst': 'A\n=\n', 'locales/de/LC_MESSAGES/index.po': text });
  const { user } = process.cpuUsage(start);
  expect(user / 1e6).toBeLessThan(5);
});

it('follows changes of a page, of a catalog and of the configuration', async () => {
  const files = new Map(Object.entries(project));
  let built = await buildChanged(files, null);
  for (const [path, text] of [
    ['doc/guide/c.rst', 'Other\n=====\n\nWords.\n\nMore words.\n'],
    ['locale/de/LC_MESSAGES/guide/b.po', catalog({ 'Lamps on *walls*': 'Wandlampen' })],
    ['locale/de/LC_MESSAGES/guide/c.po', catalog({ Other: 'Andere', 'Words.': 'Wörter.' })],
    ['locale/de/LC_MESSAGES/index.po', catalog({ Lamps: '' })],
    ['doc/conf.py', "rst_epilog = 'The end.'\n"],
  ] as const) {
    files.set(path, text);
    built = await buildChanged(files, built);
    expectSame(built, await buildFull(files));
  }
});
