import { expect, it } from 'vitest';
import { readPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

const length = 20_000;
const maxCpuMs = 2_000;

/** Files that make each tool recognized, and pages of it. */
const tools: [name: string, files: Record<string, string>, pages: string[]][] = [
  ['Hugo', { 'hugo.toml': 'baseURL = "x"' }, ['content/a.md']],
  ['MkDocs', { 'mkdocs.yml': 'site_name: x\n' }, ['docs/a.md']],
  ['Docusaurus', { 'docusaurus.config.js': 'x', 'docs/x.md': 'x' }, ['docs/a.md', 'docs/a.mdx']],
  ['VitePress', { '.vitepress/config.js': 'x' }, ['a.md']],
  ['Starlight', { 'astro.config.mjs': 'starlight(', 'src/content/docs/i.md': 'x' }, ['src/content/docs/a.mdx']],
  ['Antora', { 'antora.yml': 'name: x\nversion: 1\n' }, ['modules/ROOT/pages/a.adoc']],
  ['GitBook', { '.gitbook.yaml': 'root: ./', 'SUMMARY.md': '# S\n* [a](a.md)' }, ['a.md']],
  ['Sphinx', { 'conf.py': 'x', 'index.rst': 'x\n=\n' }, ['a.rst', 'a.md']],
  ['Mintlify', { 'docs.json': '{"navigation": {"pages": ["a"]}}' }, ['a.mdx']],
  ['none', {}, ['a.html', 'a.adoc', 'a.rst', 'a.md', 'a.mdx']],
];

/** Beginnings of the expressions of a reader, each followed by a long repetition. */
const starts = [
  '',
  '{{< x',
  '{{% note "',
  '{% hint style="',
  '{% tabs',
  ':ref:`',
  '.. note::',
  '!!! note',
  '::: tip',
  '<A b="',
];
const repeated = [
  ' ',
  '\t',
  '\n',
  '\r',
  '{{< x ',
  '{{< highlight x >}}\n',
  '{{< glossary_tooltip term_id="a" ',
  '{{<{',
  ':::note\n',
  '```{note}\n',
  '(a)=\n',
  '{ref}`',
  '!!! note "a\n',
  '!!! note\n    ',
  '<Tabs>\n',
  'a<',
  '`',
]
  .concat([
    '[a](',
    'xref:',
    'include::a[',
    '{a}',
    '|a|',
    '<',
    '<div ',
    '--8<-- "',
    '![',
    '_',
    '*a ',
    '<p title="',
    '=\n',
  ])
  .concat(['-\n-', '<%', '{', '> ', '1. ', '{/*', '# {#', '::', ']]', '.. [#a] ', ':ref:`', '.. note:: \n   '])
  .concat(['<script>\n', '&lt;', '    &lt;\n\n', '<nobr>', '<b/>', '>>> a\n', '\u00a0']);

it.each(tools)(
  'a page of %s takes little time, whatever repeats in it',
  { tags: 'slow' },
  async (_name, config, paths) => {
    const slow: string[] = [];
    for (const path of paths)
      for (const start of starts)
        for (const unit of start === '' ? repeated : [' ', '\n', start]) {
          const lead = path.endsWith('.html') ? '<!doctype html><main>' : '';
          const text = lead + start + unit.repeat(length / unit.length);
          const files = [...Object.entries(config), [path, text] as const].map(([name, content]) =>
            fileOf(name, content),
          );
          const before = process.cpuUsage();
          await readPages(files);
          const { user, system } = process.cpuUsage(before);
          if ((user + system) / 1_000 > maxCpuMs)
            slow.push(`${path}: ${JSON.stringify(start)}, ${JSON.stringify(unit)}`);
        }
    expect(slow).toEqual([]);
  },
);
